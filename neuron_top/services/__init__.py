"""The application: what a front end may ask, each thing once.

CLI, terminal and web import services and views and nothing else of the product. A service is given the settings, reads
disks when it is asked (so screens call it in a thread) and answers with a frozen view or a feed.
"""
