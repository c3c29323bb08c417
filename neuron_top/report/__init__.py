"""A report drawn: one self-contained HTML file, or Markdown. What it holds is the view's business (`views.report`)."""
