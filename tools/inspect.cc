// The command `inspect`: what a trace or log holds, by its content, and every problem in it.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "tools/command.h"
#include "tools/terminal.h"
#include "traces/file_kinds.h"

namespace ringwright::tools {
namespace {

using traces::InspectedFile;
using traces::SummaryFact;
using traces::SummaryTable;
using traces::SummaryValue;

std::string value_text(const SummaryValue& value) {
  struct Text {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t number) const { return with_commas(number); }
    std::string operator()(double number) const { return fmt::format("{:.2f}", number); }
    std::string operator()(Bytes size) const { return to_string(size); }
    std::string operator()(Duration time) const { return to_string(time); }
    std::string operator()(std::optional<double> number) const { return number ? (*this)(*number) : "-"; }
    std::string operator()(std::optional<Bytes> size) const { return size ? (*this)(*size) : "-"; }
  };
  return std::visit(Text(), value);
}

// Bytes and seconds are plain numbers.
std::string value_json(const SummaryValue& value) {
  struct JsonText {
    std::string operator()(const std::string& text) const { return json_text(text); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{:.6g}", number); }
    std::string operator()(Bytes size) const { return fmt::format("{}", size.count()); }
    std::string operator()(Duration time) const { return fmt::format("{:.15g}", to_seconds(time)); }
    std::string operator()(std::optional<double> number) const { return number ? (*this)(*number) : "null"; }
    std::string operator()(std::optional<Bytes> size) const { return size ? (*this)(*size) : "null"; }
  };
  return std::visit(JsonText(), value);
}

std::string table_text(const SummaryTable& table) {
  if (table.rows.empty()) return {};
  std::vector<Align> columns;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    columns.push_back(std::holds_alternative<std::string>(table.rows.front()[column]) ? Align::kLeft : Align::kRight);
  }
  TextTable text(columns);
  std::vector<std::string> heading = table.columns;
  heading.front() = "  " + heading.front();
  text.add_row(std::move(heading));
  for (const std::vector<SummaryValue>& row : table.rows) {
    std::vector<std::string> cells;
    for (const SummaryValue& value : row) cells.push_back(value_text(value));
    cells.front() = "  " + cells.front();
    text.add_row(std::move(cells));
  }
  return "\n" + table.title + "\n" + join(text.lines(), "\n") + "\n";
}

std::string file_text(const InspectedFile& file) {
  std::string text = fmt::format("{}: {}\n", file.path, file.doc);
  TextTable facts({Align::kLeft, Align::kLeft});
  for (const SummaryFact& fact : file.summary.facts) facts.add_row({"  " + fact.name, value_text(fact.value)});
  if (!file.summary.facts.empty()) text += join(facts.lines(), "\n") + "\n";
  for (const SummaryTable& table : file.summary.tables) text += table_text(table);
  return text;
}

// "computing on GPUs" -> "computing_on_gpus"; a duration is "..._s", a size "..._bytes".
std::string key_of(std::string_view name, const SummaryValue& value) {
  std::string key;
  for (const char letter : name) {
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    key += letter == ' ' || letter == '/' ? '_' : is_capital ? static_cast<char>(letter + 32) : letter;
  }
  if (std::holds_alternative<Duration>(value)) key += "_s";
  const bool is_size = std::holds_alternative<Bytes>(value) || std::holds_alternative<std::optional<Bytes>>(value);
  if (is_size && !key.ends_with("bytes")) key += "_bytes";
  return key;
}

std::string table_json(const SummaryTable& table) {
  std::vector<std::string> rows;
  for (const std::vector<SummaryValue>& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < row.size(); ++column) {
      cells.push_back(
          fmt::format("{}: {}", json_text(key_of(table.columns[column], row[column])), value_json(row[column])));
    }
    rows.push_back("      {" + join(cells, ", ") + "}");
  }
  return fmt::format("    {}: [\n{}\n    ]", json_text(key_of(table.title, std::string())), join(rows, ",\n"));
}

std::string problems_json(const Diagnostics& problems) {
  std::vector<std::string> rows;
  for (const Diagnostic& problem : problems.all()) {
    rows.push_back(fmt::format("      {{\"severity\": \"{}\", \"code\": {}, \"message\": {}}}",
                               problem.severity == Severity::kError ? "error" : "warning", json_text(problem.code),
                               json_text(problem.message)));
  }
  return rows.empty() ? "[]" : "[\n" + join(rows, ",\n") + "\n    ]";
}

std::string file_json(const std::string& path, const InspectedFile* file, const Diagnostics& problems) {
  std::vector<std::string> parts = {fmt::format("    \"file\": {}", json_text(path))};
  if (file != nullptr) {
    parts.push_back(fmt::format("    \"kind\": {}", json_text(file->kind)));
    for (const SummaryFact& fact : file->summary.facts) {
      parts.push_back(fmt::format("    {}: {}", json_text(key_of(fact.name, fact.value)), value_json(fact.value)));
    }
    for (const SummaryTable& table : file->summary.tables) parts.push_back(table_json(table));
  }
  parts.push_back("    \"problems\": " + problems_json(problems));
  return "  {\n" + join(parts, ",\n") + "\n  }";
}

class Inspect final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "inspect"; }
  [[nodiscard]] std::string_view summary() const override {
    return "show the contents of traces and logs, and every problem in them";
  }
  [[nodiscard]] std::string notes() const override {
    std::string text = "Kinds of files, recognised by content, plain or gzip:\n";
    for (const traces::FileKind& kind : traces::file_kinds()) text += fmt::format("  {}\n", kind.doc);
    return text +
           "A PREFIX stands for the Chakra traces of all ranks, PREFIX.RANK.et. Profilers' traces of several\n"
           "ranks are joined, and so are communication logs.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "files", .value = "", .doc = "traces or logs", .target = &files_, .required = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    bool failed = false;
    std::vector<std::string> parts;
    std::vector<InspectedFile> files;
    const auto show = [&](const std::string& path, const InspectedFile* file, const Diagnostics& problems) {
      failed = failed || problems.has_errors();
      const bool shown = problems.has_errors() || (!problems.all().empty() && !common.quiet);
      if (shown && !common.json) tell(render(problems));
      if (common.json) parts.push_back(file_json(path, file, problems));
      if (!common.json && file != nullptr) parts.push_back(file_text(*file));
    };
    for (const std::string& path : files_) {
      auto file = traces::inspect_file(path);
      show(path, file ? &*file : nullptr, file ? file->summary.problems : file.error());
      if (file) files.push_back(std::move(*file));
    }
    for (const InspectedFile& job : traces::inspect_together(files)) show(job.path, &job, job.summary.problems);
    print(common.json ? "[\n" + join(parts, ",\n") + "\n]\n" : join(parts, "\n"));
    return failed ? ExitCode::kBadInput : ExitCode::kOk;
  }

 private:
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Command> make_inspect() {
  return std::make_unique<Inspect>();
}

}  // namespace ringwright::tools
