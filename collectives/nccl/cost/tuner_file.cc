#include "collectives/nccl/cost/tuner_file.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/config/text_lines.h"

namespace ringwright::collectives {
namespace {

constexpr std::int64_t kNoLimit = 4294967295;  // "and above" in files
constexpr int kMostRanks = 10'000'000;
constexpr std::size_t kFewestFields = 8;
constexpr std::size_t kMostFields = 10;
constexpr std::array<std::string_view, kMostFields> kFieldNames = {
    "collective_type", "min_bytes", "max_bytes", "algorithm", "protocol", "channels", "nNodes", "nRanks", "numPipeOps",
    "regBuff"};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class LineReader {
 public:
  LineReader(std::string_view text, Place place, Diagnostics& problems)
      : text_(text), place_(std::move(place)), problems_(problems) {
    std::size_t begin = 0;
    while (true) {
      const std::size_t comma = text.find(',', begin);
      fields_.push_back({.begin = begin, .text = trim(text.substr(begin, comma - begin))});
      if (comma == std::string_view::npos) break;
      begin = comma + 1;
    }
  }

  std::optional<TunerLine> read() {
    if (fields_.size() < kFewestFields || fields_.size() > kMostFields) {
      fail(0, fmt::format("the line has {} fields and needs {} to {}", fields_.size(), kFewestFields, kMostFields),
           "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks");
      return std::nullopt;
    }
    TunerLine line{.line = place_.line};
    read_names(line);
    line.min_bytes = number(1, 0, std::numeric_limits<std::int64_t>::max());
    line.max_bytes = number(2, 0, std::numeric_limits<std::int64_t>::max());
    line.channels = count(5, kNcclMaxChannels);
    line.hosts = count(6, kMostRanks);
    line.ranks = count(7, kMostRanks);
    if (line.hosts > 0 && line.ranks > 0 && line.hosts > line.ranks) {
      fail(6, fmt::format("nNodes {} is above nRanks {}", line.hosts, line.ranks),
           "every host has at least one rank; "
           "-1 for any");
    }
    if (fields_.size() > 8) line.operations = count(8, kMostRanks);
    if (fields_.size() > 9) line.registered = static_cast<int>(number(9, -1, 1));
    if (line.min_bytes > line.max_bytes) {
      fail(1, fmt::format("min_bytes {} is above max_bytes {}", line.min_bytes, line.max_bytes), {});
    }
    if (line.max_bytes == kNoLimit) line.max_bytes = std::numeric_limits<std::int64_t>::max();
    return sound_ ? std::optional(line) : std::nullopt;
  }

 private:
  struct Field {
    std::size_t begin = 0;
    std::string_view text;
  };

  void read_names(TunerLine& line) {
    if (const auto kind = parse_nccl_function(fields_[0].text)) {
      line.kind = *kind;
    } else {
      wrong(0, {"broadcast", "reduce", "allgather", "reducescatter", "allreduce"});
    }
    if (const auto algorithm = parse_nccl_algorithm(fields_[3].text)) {
      line.algorithm = *algorithm;
    } else {
      std::vector<std::string> names;
      for (const NcclAlgorithm known : kNcclAlgorithms) names.emplace_back(to_string(known));
      wrong(3, names);
    }
    if (const auto protocol = parse_protocol(fields_[4].text)) {
      line.protocol = *protocol;
    } else {
      wrong(4, {"ll", "ll128", "simple"});
    }
  }

  void wrong(std::size_t field, const std::vector<std::string>& known) {
    const std::string near = nearest_name(fields_[field].text, known);
    fail(field, fmt::format("'{}' is not a valid {}", fields_[field].text, kFieldNames[field]),
         near.empty() ? fmt::format("one of {}", join(known, ", ")) : fmt::format("did you mean '{}'?", near));
  }

  std::int64_t number(std::size_t field, std::int64_t least, std::int64_t most) {
    const std::string_view text = fields_[field].text;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
      fail(field,
           fmt::format("{} is '{}' and must be a whole number from {}{}", kFieldNames[field], text, least,
                       most < std::numeric_limits<std::int64_t>::max() ? fmt::format(" to {}", most) : " on"),
           {});
      return least;
    }
    return value;
  }

  int count(std::size_t field, int most) {
    const auto value = static_cast<int>(number(field, -1, most));
    if (value == 0) fail(field, fmt::format("{} is 0", kFieldNames[field]), "write -1 for any");
    return value;
  }

  void fail(std::size_t field, std::string message, std::string hint) {
    sound_ = false;
    Place place = place_;
    place.column = static_cast<int>(fields_[field].text.data() - text_.data()) + 1;
    if (fields_[field].text.empty()) place.column = static_cast<int>(fields_[field].begin) + 1;
    problems_.add({.code = "E181",
                   .place = std::move(place),
                   .message = std::move(message),
                   .excerpt = std::string(text_),
                   .caret_length = static_cast<int>(std::max<std::size_t>(1, fields_[field].text.size())),
                   .hint = std::move(hint)});
  }

  std::string_view text_;
  Place place_;
  Diagnostics& problems_;
  std::vector<Field> fields_;
  bool sound_ = true;
};

}  // namespace

const TunerLine* TunerFile::find(const CollectiveCall& call) const {
  const auto fits = [](int asked, int value) { return asked == -1 || asked == value; };
  for (const TunerLine& line : lines) {
    if (line.kind != call.kind || call.bytes.count() < line.min_bytes || call.bytes.count() > line.max_bytes) continue;
    if (!fits(line.hosts, call.layout->host_count()) || !fits(line.ranks, call.size())) continue;
    if (fits(line.operations, 1) && fits(line.registered, 0)) return &line;
  }
  return nullptr;
}

Result<TunerFile> parse_tuner_file(std::string_view text, const std::string& name) {
  TunerFile file;
  Diagnostics problems;
  text = without_byte_order_mark(text);  // Excel writes one
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    if (auto read = LineReader(line, {.file = name, .line = number}, problems).read()) file.lines.push_back(*read);
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return file;
}

}  // namespace ringwright::collectives
