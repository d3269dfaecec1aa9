#include "planning/study/point_message.h"

#include <charconv>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

// Every field is its length, a colon, and its bytes; a missing number is empty.
class FieldWriter {
 public:
  void add(std::string_view text) { text_ += fmt::format("{}:{}", text.size(), text); }
  void add(std::int64_t number) { add(std::string_view(fmt::format("{}", number))); }
  void add(const std::optional<double>& number) {
    add(std::string_view(number ? fmt::format("{}", *number) : std::string()));  // the shortest text that reads back
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool is_good() const { return good_; }
  [[nodiscard]] bool is_done() const { return rest_.empty(); }

  [[nodiscard]] std::string text() {
    std::size_t length = 0;
    const std::size_t colon = rest_.find(':');
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + std::min(colon, rest_.size()), length);
    if (colon == std::string_view::npos || error != std::errc() || end != rest_.data() + colon ||
        length > rest_.size() - colon - 1) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const std::string field(rest_.substr(colon + 1, length));
    rest_.remove_prefix(colon + 1 + length);
    return field;
  }

  [[nodiscard]] std::int64_t integer() { return number<std::int64_t>().value_or(0); }
  [[nodiscard]] std::optional<double> maybe() { return number<double>(); }

 private:
  template <class Number>
  std::optional<Number> number() {
    const std::string field = text();
    if (field.empty()) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    good_ = good_ && error == std::errc() && end == field.data() + field.size();
    return value;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::string packed(const Point& point) {
  FieldWriter writer;
  const StepFigures& figures = point.figures;
  for (const std::string_view text : {std::string_view(point.fingerprint), to_string(point.status),
                                      std::string_view(point.code), std::string_view(point.reason),
                                      std::string_view(figures.processed)}) {
    writer.add(text);
  }
  for (const std::int64_t number : {figures.step.count(), figures.gpus, figures.tokens_per_step, figures.memory.count(),
                                    figures.memory_capacity.count()}) {
    writer.add(number);
  }
  for (const std::optional<double>& number :
       {std::optional(figures.tokens_per_second_per_gpu), figures.model_flop_utilisation, figures.cost.usd,
        figures.cost.usd_per_tera_tokens, figures.cost.joules, figures.cost.joules_per_token}) {
    writer.add(number);
  }
  for (const StepPart& part : figures.parts) {
    writer.add(std::string_view(part.cause));
    writer.add(part.time.count());
  }
  return writer.take();
}

std::optional<Point> unpacked(std::string_view message) {
  FieldReader reader(message);
  Point point{.fingerprint = reader.text()};
  const auto status = status_named(reader.text());
  point.status = status.value_or(PointStatus::kRefused);
  point.code = reader.text();
  point.reason = reader.text();
  StepFigures& figures = point.figures;
  figures.processed = reader.text();
  figures.step = Duration(reader.integer());
  figures.gpus = reader.integer();
  figures.tokens_per_step = reader.integer();
  figures.memory = Bytes(reader.integer());
  figures.memory_capacity = Bytes(reader.integer());
  figures.tokens_per_second_per_gpu = reader.maybe().value_or(0.0);
  figures.model_flop_utilisation = reader.maybe();
  figures.cost.usd = reader.maybe();
  figures.cost.usd_per_tera_tokens = reader.maybe();
  figures.cost.joules = reader.maybe();
  figures.cost.joules_per_token = reader.maybe();
  while (reader.is_good() && !reader.is_done()) {
    std::string cause = reader.text();
    figures.parts.push_back({.cause = std::move(cause), .time = Duration(reader.integer())});
  }
  return reader.is_good() && status ? std::optional(std::move(point)) : std::nullopt;
}

}  // namespace ringwright::planning
