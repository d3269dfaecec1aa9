// A diagnostic about an input: location, message and fix. Collected, so that a user sees all mistakes at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace ringwright {

// A position in an input text. Lines and columns count from 1; 0 means "the file as a whole".
struct Place {
  std::string file;  // as the user named it; "--set:2" for the second --set; "preset:dgx-h100.yaml" for shipped files
  int line = 0;
  int column = 0;
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;     // stable, for `ringwright explain`: "E102"
  Place place;
  std::string message;  // lower case, no full stop, names the thing and gives the value
  std::string excerpt;  // the line of the input, empty when there is none
  int caret_length = 1; // how many characters of the excerpt, from place.column on, the caret marks
  std::string hint;     // the fix, may be empty
};

// Collects diagnostics of one loading run.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  // Removes the diagnostics with this code and message, which a later one explains.
  void take_back(std::string_view code, std::string_view message);
  [[nodiscard]] bool has_errors() const { return errors_ > 0; }
  [[nodiscard]] std::size_t error_count() const { return errors_; }
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
};

// "file:line:column: error[E102]: message", then excerpt, caret and hint on lines of their own.
[[nodiscard]] std::string render(const Diagnostic& diagnostic);
// All of them (the first `limit`, then a count of the rest), and the closing line "2 errors, 0 warnings".
[[nodiscard]] std::string render(const Diagnostics& diagnostics, std::size_t limit = 20);

template <class T>
using Result = tl::expected<T, Diagnostics>;

// A failure with one diagnostic that holds only a message (and a file, when known).
[[nodiscard]] Diagnostics failure(std::string code, std::string message, Place place = {}, std::string hint = {});

}  // namespace ringwright
