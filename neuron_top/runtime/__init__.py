"""The runtime component: devices, telemetry, worker processes, growing files, running a command."""
