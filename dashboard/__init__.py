"""The web dashboard: the views of a run as pages in a browser, with an API and metrics beside them."""
