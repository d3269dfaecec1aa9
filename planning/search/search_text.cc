// The page of a search for people.
#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/search/choices.h"
#include "planning/search/search_report.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMisfitsShown = 3;
constexpr std::size_t kItemsShown = 3;
constexpr std::size_t kFrontShown = 12;
constexpr std::size_t kExampleWidth = 100;
constexpr std::string_view kMostOfIt = "most of it";  // ends the headings of text columns

std::string commas(std::size_t number) {
  return with_commas(static_cast<long long>(number));
}
std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}
std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100.0 * share);
}

std::string_view heading(std::string_view axis) {
  if (axis == "virtual_stages") return "v";
  if (axis == "micro_batch") return "mb";
  if (axis == "stage_layers") return "layers";
  if (axis == "sequence_parallel") return "sp";
  return axis;
}

class Page {
 public:
  explicit Page(const SearchReport& report) : report_(report), result_(report.result) {
    for (const configs::SearchAxis& axis : result_.axes) {
      if (axis.values.size() > 1) shown_.push_back(axis.name);
    }
  }

  [[nodiscard]] std::string text() {
    add_space();
    add_best();
    if (report_.detail != Detail::kQuiet) add_choices();
    if (report_.detail != Detail::kQuiet) add_front();
    if (report_.detail != Detail::kQuiet) add_misfits();
    add_own();
    return text_;
  }

 private:
  void line(const std::string& words) { text_ += words + "\n"; }
  void table(const TextTable& table) {
    for (const std::string& row : table.lines()) line("  " + row);
  }

  void add_space() {
    line(fmt::format("{}: {} on {} GPUs, by {}", report_.scenario.name, report_.scenario.job.model.name,
                     commas(static_cast<std::size_t>(report_.scenario.cluster.gpus())),
                     to_string(report_.settings.objective)));
    std::vector<std::string> axes;
    for (const configs::SearchAxis& axis : result_.axes)
      axes.push_back(fmt::format("{} {}", axis.name, fmt::join(axis.values, " ")));
    if (report_.detail == Detail::kQuiet) return;
    line("  " + wrap(fmt::format("{} combinations of {}", commas(result_.combinations), join(axes, ", ")), 96, 2));
    TextTable counts({Align::kRight, Align::kLeft});
    counts.add_row(
        {commas(result_.ranked.size()), fmt::format("fit into {} and are predicted", to_string(result_.capacity))});
    if (!result_.skipped.empty()) {
      counts.add_row({commas(result_.skipped.size()),
                      "fit and are skipped: a lower bound of their step is above all that the tables need "
                      "(--predict-all predicts them)"});
    }
    if (!result_.bounds_hold) counts.add_row({"", "nothing is skipped: a step was predicted below its bound"});
    counts.add_row({commas(result_.misfits.size()), "are legal and do not fit"});
    counts.add_row({commas(result_.same), "are duplicates of these: a choice has no effect in them"});
    for (const RefusalCount& entry : result_.refusals) {
      counts.add_row({commas(entry.count),
                      fmt::format("{}{} (such as: {})", entry.refusal.code.empty() ? "" : entry.refusal.code + ": ",
                                  entry.refusal.reason, shorten_end(entry.refusal.example, kExampleWidth))});
    }
    table(counts);
  }

  [[nodiscard]] TextTable new_table(std::vector<std::string> before, std::vector<std::string> after) const {
    std::vector<std::string> header = std::move(before);
    std::vector<Align> columns(header.size(), Align::kRight);
    for (const std::string& axis : shown_) {
      header.emplace_back(heading(axis));
      const auto& values = std::ranges::find(result_.axes, axis, &configs::SearchAxis::name)->values;
      const bool number = values.front().find_first_not_of("0123456789") == std::string::npos;
      columns.push_back(number ? Align::kRight : Align::kLeft);
    }
    header.emplace_back("dp");
    columns.push_back(Align::kRight);
    for (std::string& word : after) {
      columns.push_back(word.ends_with(kMostOfIt) ? Align::kLeft : Align::kRight);
      header.push_back(std::move(word));
    }
    TextTable table(columns);
    table.add_row(header);
    return table;
  }

  [[nodiscard]] std::vector<std::string> row(std::vector<std::string> cells, const Configuration& configuration,
                                             const std::vector<std::string>& after) const {
    for (const std::string& axis : shown_) cells.push_back(value_on(configuration.layout, axis));
    cells.push_back(std::to_string(configuration.dp));
    cells.insert(cells.end(), after.begin(), after.end());
    return cells;
  }

  [[nodiscard]] static std::vector<std::string> figures(const Configuration& configuration) {
    const configs::Prediction& best = configuration.best_known();
    return {to_string(best.step_time.mean),
            fmt::format("{:.0f}", best.tokens_per_second_per_gpu),
            best.model_flop_utilisation ? percent(*best.model_flop_utilisation) : "-",
            to_string(configuration.fullest.total),
            percent(best.everywhere.share(best.everywhere.idle)),
            percent(best.everywhere.share(exposed(best.everywhere))),
            configuration.played ? to_string(configuration.quick->step_time.mean) : "-"};
  }

  // Between two from the same model.
  [[nodiscard]] static std::string why(const Configuration& better, const Configuration& other) {
    const bool played = better.played && other.played;
    return played ? why_slower(*better.played, *other.played) : why_slower(*better.quick, *other.quick);
  }

  void add_best() {
    if (result_.ranked.empty()) return line("\nNothing that is legal fits.");
    const std::size_t most =
        std::min<std::size_t>(static_cast<std::size_t>(report_.settings.top), result_.ranked.size());
    line(fmt::format("\nThe best {} of {}{}", most, commas(result_.fitting()),
                     result_.replayed > 0
                         ? fmt::format("; the first {} as simulated with the scenario's own models, next to what "
                                       "formulas predict",
                                       result_.replayed)
                         : "; by formulas"));
    TextTable best = new_table({"rank"}, {"step", "tokens/s/GPU", "MFU", "memory", "bubble", "exposed", "formulas",
                                          "next is slower by: most of it"});
    for (std::size_t i = 0; i < most; ++i) {
      const Configuration& configuration = result_.ranked[i];
      std::vector<std::string> after = figures(configuration);
      if (i + 1 < result_.ranked.size()) after.push_back(why(configuration, result_.ranked[i + 1]));
      best.add_row(row({std::to_string(i + 1)}, configuration, after));
    }
    table(best);
    for (std::size_t i = 0; i < most; ++i) {
      const std::string& stages = result_.ranked[i].layout.stages;
      if (!stages.empty()) line("  " + wrap(fmt::format("stages of {}: {}", i + 1, stages), 96, 2));
    }
    add_agreement();
  }

  void add_agreement() {
    if (result_.replayed == 0) return;
    double sum = 0.0;
    for (std::size_t i = 0; i < result_.replayed; ++i) {
      const Configuration& c = result_.ranked[i];
      sum += to_seconds(c.quick->step_time.mean) / to_seconds(c.played->step_time.mean) - 1.0;
    }
    line(fmt::format(
        "  formulas against simulation, over these {}: step times {} in the mean, Kendall's tau of the rankings {}",
        result_.replayed, signed_percent(sum / static_cast<double>(result_.replayed)),
        result_.agreement ? fmt::format("{:.2f}", *result_.agreement) : "-"));
  }

  // What each choice costs if everything else is chosen for it.
  void add_choices() {
    const std::vector<ChoiceClass> classes = choice_classes(result_);
    const std::optional<StepBound> bound = step_bound(result_);
    if (classes.empty() || !bound) return;
    line("\nThe fastest layout with each choice, against the fastest of all (by formulas)");
    TextTable choices({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
    choices.add_row({"choice", "fit", "step", "slower", "because"});
    const auto fastest =
        std::ranges::min_element(result_.ranked, {}, [](const Configuration& c) { return c.quick->step_time.mean; });
    for (const ChoiceClass& choice : classes) {
      std::vector<std::string> cells = {fmt::format("{} {}", choice.axis, choice.value), commas(choice.fitting)};
      if (choice.best) {
        const configs::Prediction& best = *result_.ranked[*choice.best].quick;
        const double longer = to_seconds(best.step_time.mean) / to_seconds(fastest->quick->step_time.mean) - 1.0;
        cells.insert(cells.end(), {to_string(best.step_time.mean), signed_percent(longer),
                                   longer > 0.0 ? why_slower(*fastest->quick, best) : ""});
      } else {
        const Configuration& closest = result_.misfits[*choice.closest];
        cells.insert(cells.end(), {"-", "-",
                                   fmt::format("the smallest needs {}; {}", to_string(closest.fullest.total),
                                               what_is_short(closest))});
      }
      choices.add_row(cells);
    }
    table(choices);
    const Configuration& shortest = result_.ranked[bound->shortest];
    const double above = to_seconds(bound->fastest) / to_seconds(bound->computing) - 1.0;
    line("  " + wrap(fmt::format("No layout can be faster than {}, which the one with {} computes; the fastest is {} "
                                 "above that: exposed communication and waiting.",
                                 to_string(bound->computing), choices_of(shortest), percent(above)),
                     96, 2));
  }

  // "tp 4, pp 2".
  [[nodiscard]] std::string choices_of(const Configuration& configuration) const {
    std::vector<std::string> words;
    for (const std::string& axis : shown_) words.push_back(axis + " " + value_on(configuration.layout, axis));
    return join(words, ", ");
  }

  void add_front() {
    if (result_.front.empty()) return;
    const std::size_t most = std::min(kFrontShown, result_.front.size());
    line(fmt::format(
        "\nTime against memory: no other is both faster and smaller (by formulas){}",
        most < result_.front.size() ? fmt::format("; the fastest {} of {}", most, result_.front.size()) : ""));
    TextTable front = new_table({"rank"}, {"memory", "step", "against the fastest"});
    const configs::Prediction& fastest = *result_.ranked[result_.front.back()].quick;
    for (std::size_t i = result_.front.size() - most; i < result_.front.size(); ++i) {
      const Configuration& c = result_.ranked[result_.front[i]];
      const double longer = to_seconds(c.quick->step_time.mean) / to_seconds(fastest.step_time.mean) - 1.0;
      front.add_row(row({result_.is_rank_known(c) ? std::to_string(result_.front[i] + 1) : "-"}, c,
                        {to_string(c.fullest.total), to_string(c.quick->step_time.mean), signed_percent(longer)}));
    }
    table(front);
  }

  void add_misfits() {
    if (result_.misfits.empty()) return;
    const std::size_t most = std::min(kMisfitsShown, result_.misfits.size());
    line(fmt::format("\nDoes not fit into {}: {}, the closest of them", to_string(result_.capacity),
                     commas(result_.misfits.size())));
    TextTable misfits = new_table({}, {"memory", std::string(kMostOfIt)});
    for (std::size_t i = 0; i < most; ++i) {
      const Configuration& c = result_.misfits[i];
      misfits.add_row(row({}, c, {to_string(c.fullest.total), what_is_short(c)}));
    }
    table(misfits);
  }

  [[nodiscard]] static std::string largest_items(const MemoryRow& row) {
    std::vector<MemoryItem> items = row.items;
    std::ranges::stable_sort(items, std::ranges::greater(), &MemoryItem::size);
    std::vector<std::string> words;
    for (const MemoryItem& item : items) {
      if (words.size() < kItemsShown) words.push_back(fmt::format("{} {}", item.name, to_string(item.size)));
    }
    return fmt::format("stage {}: {}", row.stage, join(words, ", "));
  }

  // "stage 0: optimizer 40 GiB, ...", or "memory of host 0: 104.7 GiB of 80 GiB" where only that is too small.
  [[nodiscard]] static std::string what_is_short(const Configuration& c) {
    if (!c.overfull_host || !c.fullest.fits()) return largest_items(c.fullest);
    const HostRow& host = *c.overfull_host;
    return fmt::format("{} of host {}: {} of {}", host.what, host.host, to_string(host.total),
                       to_string(host.capacity));
  }

  // "tp 8, no schedule": values of the own layout on axes of one other value, which have no column.
  [[nodiscard]] std::string values_apart(const Layout& own) const {
    std::vector<std::string> words;
    for (const configs::SearchAxis& axis : result_.axes) {
      const bool matters = !(own.tp == 1 && axis.name == "sequence_parallel") &&
                           !(own.pp == 1 && axis.name == "stage_layers") && axis.name != "etp";
      const std::string value = value_on(own, axis.name);
      if (axis.values.size() > 1 || !matters || value == axis.values.front()) continue;
      words.push_back(value == "-" ? "no " + axis.name : axis.name + " " + value);
    }
    return join(words, ", ");
  }

  void add_own() {
    const OwnLayout& own = result_.own;
    line("\nThe scenario's own layout");
    if (!own.problem.empty()) return line("  cannot be simulated: " + own.problem);
    TextTable yours = new_table({}, {"step", "tokens/s/GPU", "MFU", "memory", "bubble", "exposed", "formulas"});
    yours.add_row(row({}, own.configuration, figures(own.configuration)));
    table(yours);
    if (const std::string apart = values_apart(own.configuration.layout); !apart.empty()) {
      line("  has " + apart + ", which the search does not try");
    }
    if (!own.fits) line(fmt::format("  does not fit; {}", what_is_short(own.configuration)));
    if (result_.ranked.empty()) return;
    const Configuration& best = result_.ranked.front();
    const bool played = best.played && own.configuration.played;
    const Duration mine = (played ? *own.configuration.played : *own.configuration.quick).step_time.mean;
    const Duration first = (played ? *best.played : *best.quick).step_time.mean;
    const double longer = to_seconds(mine) / to_seconds(first) - 1.0;
    std::string words =
        own.rank ? fmt::format("  would be rank {}{} of {}", commas(*own.rank), own.is_rank_known ? "" : " or later",
                               commas(result_.fitting()))
                 : "";
    words += fmt::format("{} {} against the best, {}", own.rank ? "," : " ", signed_percent(longer),
                         why(best, own.configuration));
    line(words);
  }

  const SearchReport& report_;
  const SearchResult& result_;
  std::vector<std::string> shown_;
  std::string text_;
};

}  // namespace

std::string render_search_text(const SearchReport& report) {
  return Page(report).text();
}

}  // namespace ringwright::planning
