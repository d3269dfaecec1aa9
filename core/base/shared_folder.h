// Where the files that the program ships lie: presets and scenarios ("configs"), measurements ("validation").
//
// They are found relative to the program, so that an installed tree can be moved, and no path of a source tree is in
// the binary: the first of these that holds the folder
//
//   $RINGWRIGHT_SHARE
//   share/ringwright in the program's folder or in one above it: /usr/bin/ringwright finds /usr/share/ringwright, and
//     a program in a build folder finds the links that the build made there; of a shared library, such as Python's
//     module, the library's folder counts
//   /usr/local/share/ringwright, /usr/share/ringwright, for programs of others that link the library
#pragma once

#include <string>
#include <string_view>

namespace ringwright {

// An absolute path without links. Where no folder is found, the last place that was looked at, so that the message
// about a missing file names it.
[[nodiscard]] std::string shared_folder(std::string_view name);

// The same for a program in the given place, without the environment.
[[nodiscard]] std::string shared_folder_of(const std::string& program, std::string_view name);

}  // namespace ringwright
