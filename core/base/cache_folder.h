// Where a program retains what it found for its next runs, as the XDG Base Directory Specification has it.
#pragma once

#include <string>

namespace ringwright {

// The first that is set of $RINGWRIGHT_CACHE, $XDG_CACHE_HOME/ringwright and $HOME/.cache/ringwright. Empty: nothing is
// to be retained, since RINGWRIGHT_CACHE is "off" or none of them is set. It may not exist.
[[nodiscard]] std::string cache_folder();

}  // namespace ringwright
