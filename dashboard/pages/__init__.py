"""The pages. Each has `layout(state)`, a pure `render(...)` from views to plain values, and `register(app, caches)`."""
