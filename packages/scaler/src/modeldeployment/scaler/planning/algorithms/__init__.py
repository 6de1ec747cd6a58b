"""What one role should have, by one measurement, by token rates, or by a forecast of them; constraints come after."""
