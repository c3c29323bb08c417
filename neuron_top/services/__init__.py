"""The application's services, which front ends call: whatever the program can do is implemented here, once.

CLI, terminal and web import services and views and nothing else of the product. A service gets the settings, reads
disks when it is called (so screens call it in a thread) and returns a frozen view or a feed.
"""
