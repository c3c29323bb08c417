"""What lies in a compile cache: looks, and changes nothing."""
