// The command `list`: everything built in and shipped, by kind.
#include <cstdio>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "tools/command.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

using configs::CatalogueEntry;
using configs::CatalogueSection;

std::string section_text(const CatalogueSection& section) {
  TextTable table({Align::kLeft, Align::kLeft});
  for (const CatalogueEntry& entry : section.entries) table.add_row({"  " + entry.name, entry.summary});
  std::string text = fmt::format("{}  ({})\n", section.kind, section.where);
  for (const std::string& line : table.lines()) text += shorten_end(line, terminal_width()) + "\n";
  return text;
}

std::string section_names(const CatalogueSection& section) {
  std::string text;
  for (const CatalogueEntry& entry : section.entries) text += entry.name + "\n";
  return text;
}

std::string section_json(const CatalogueSection& section) {
  std::vector<std::string> rows;
  for (const CatalogueEntry& entry : section.entries) {
    rows.push_back(
        fmt::format("    {{\"name\": {}, \"summary\": {}}}", json_text(entry.name), json_text(entry.summary)));
  }
  return fmt::format("  {}: [\n{}\n  ]", json_text(section.kind), join(rows, ",\n"));
}

class List final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "list"; }
  [[nodiscard]] std::string_view summary() const override {
    return "list models, gpus, nodes, fabrics, networks, collectives, scenarios";
  }
  [[nodiscard]] std::string notes() const override { return "With -q only the names, one on each line.\n"; }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "kind", .value = "", .doc = "only this kind", .target = &kind_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    std::vector<CatalogueSection> sections = configs::catalogue(configs::load_options({}));
    if (!kind_.empty() && !keep_only_kind(sections)) return ExitCode::kUsage;
    std::vector<std::string> parts;
    for (const CatalogueSection& section : sections) {
      parts.push_back(common.json    ? section_json(section)
                      : common.quiet ? section_names(section)
                                     : section_text(section));
    }
    const std::string text = common.json ? "{\n" + join(parts, ",\n") + "\n}\n" : join(parts, common.quiet ? "" : "\n");
    print(text);
    return ExitCode::kOk;
  }

 private:
  bool keep_only_kind(std::vector<CatalogueSection>& sections) const {
    std::vector<std::string> kinds;
    for (const CatalogueSection& section : sections) kinds.push_back(section.kind);
    std::erase_if(sections, [&](const CatalogueSection& section) { return section.kind != kind_; });
    if (!sections.empty()) return true;
    const std::string near = nearest_name(kind_, kinds);
    std::fprintf(stderr, "error: nothing of kind '%s' to list%s\nKinds: %s\n", kind_.c_str(),
                 near.empty() ? "" : ("; did you mean '" + near + "'?").c_str(), join(kinds, ", ").c_str());
    return false;
  }

  std::string kind_;
};

}  // namespace

std::unique_ptr<Command> make_list() {
  return std::make_unique<List>();
}

}  // namespace ringwright::tools
