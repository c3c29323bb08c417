"""Views: a run at a moment as frozen rows and cards, one module per screen. Pure: no clock, no files, no layout."""
