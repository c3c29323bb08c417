"""The compile component: one graph through cache and compiler, many graphs in parallel, a torch.compile backend."""
