"""The web dashboard (Dash and Plotly)."""
