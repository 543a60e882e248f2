#pragma once
// Private to core/os: the parts of ScopedSignals that depend on the system, and a function for its signal handlers.

namespace catenary::os {

/// Sets and restores the handlers of the signals that ScopedSignals handles. Signals that are ignored stay ignored.
void set_signal_handlers();
void restore_signal_handlers();

/// Stores the number of the first signal. Returns false for all others. Handlers may call it.
bool note_first_signal(int number);

}  // namespace catenary::os
