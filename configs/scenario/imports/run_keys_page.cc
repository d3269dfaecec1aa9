#include "configs/scenario/imports/run_keys_page.h"

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/bridge_keys.h"
#include "configs/scenario/imports/hydra/nemo_keys.h"
#include "configs/scenario/imports/megatron/megatron_flags.h"

namespace ringwright::configs {
namespace {

// "  title:" and the names, in lines of a terminal.
std::string paragraph(std::string_view title, const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 100;
  if (names.empty()) return {};
  std::string text = fmt::format("  {}:\n", title);
  std::string line = "   ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string word = names[i] + (i + 1 < names.size() ? "," : "");
    if (line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string flags_of_megatron() {
  std::vector<std::string> read, reported;
  for (const FlagEntry& entry : megatron_flags()) {
    if (entry.meaning == FlagMeaning::kNoEffect) continue;
    (entry.meaning == FlagMeaning::kNotModelled ? reported : read).push_back(fmt::format("--{}", entry.name));
  }
  return paragraph("Megatron-LM, flags that set keys", read) +
         paragraph("Megatron-LM, flags that are reported as not modelled", reported);
}

std::string keys_of(std::string_view program, std::span<const KeySection> sections) {
  std::string text;
  std::vector<std::string> idle;
  for (const KeySection& section : sections) {
    if (section.rows.empty() && section.all_idle) idle.emplace_back(section.name);
    std::vector<std::string> read, reported;
    for (const KeyRow& row : section.rows) {
      if (row.meaning == KeyMeaning::kIdle) continue;
      (row.meaning == KeyMeaning::kUnmodelled ? reported : read).emplace_back(row.name);
    }
    text += paragraph(fmt::format("{}, keys of {} that are read", program, section.name), read);
    text += paragraph(fmt::format("{}, keys of {} that are reported as not modelled", program, section.name), reported);
  }
  return text + paragraph(fmt::format("{}, sections without an effect on a step", program), idle);
}

}  // namespace

std::string run_keys_page() {
  return flags_of_megatron() + keys_of("Megatron-Bridge", bridge_sections()) + keys_of("NeMo", nemo_sections());
}

}  // namespace ringwright::configs
