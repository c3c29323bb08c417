"""The torch.compile backend: what runs inside a training process."""
