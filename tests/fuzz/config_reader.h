// One fuzzing run of the configuration loader: any text must give values or diagnostics, never a crash or an exception.
#pragma once

#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/config/config_document.h"
#include "tests/core/config/sample_reader.h"

namespace ringwright::fuzz {

// The text is a file; it is JSON when it begins with '{'. What follows a NUL byte is the argument of one --set.
inline void load_and_read(std::string_view input) {
  const auto nul = input.find('\0');
  const std::string_view text = input.substr(0, nul);
  LoadOptions options{.presets = {{"cluster.node", "nodes"}, {"cluster.node.gpu", "gpus"}}};
  if (nul != std::string_view::npos) options.overrides.emplace_back(input.substr(nul + 1));
  const std::string name = text.substr(0, 1) == "{" ? "fuzz.json" : "fuzz.yaml";
  auto document = ConfigDocument::load_text(name, text, options);
  if (!document) {
    CHECK(document.error().has_errors(), "a failure has an error");
    CHECK(!render(document.error()).empty(), "a failure can be shown");
    return;
  }
  static_cast<void>(sample::read(document->root()));
  document->check_all_read();
  CHECK(!render(document->log().diagnostics()).empty(), "what was found can be shown");
  CHECK(!canonical_text(document->log()).empty(), "defaults were read at least");
  static_cast<void>(resolved_text(document->log()));
}

}  // namespace ringwright::fuzz
