"""What evidence from outside adds: expression and other tools' lists, on splits of DREAM5 and PRECISE."""
