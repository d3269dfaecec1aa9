// The reader of component classes: `components` of a goodput file.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "planning/operation/operation_reader.h"
#include "planning/study/known_keys.h"

namespace ringwright::planning {
namespace {

constexpr std::array kExposures{Option{"gpu", "one on every GPU"}, Option{"host", "one on every host"},
                                Option{"job", "one for the whole job"}};
constexpr std::array kFaultKindOptions{Option{name_of(FaultKind::kCrash), "processes end; heartbeats stop"},
                                       Option{name_of(FaultKind::kHang), "processes wait until a time-out"},
                                       Option{name_of(FaultKind::kSlow), "the job keeps the pace of the slow part"},
                                       Option{name_of(FaultKind::kCorruption), "the job goes on with wrong numbers"}};
constexpr std::int64_t kMostRecordedFaults = 1'000'000;

Exposed exposure_named(std::string_view name) {
  if (name == "host") return Exposed::kHost;
  return name == "job" ? Exposed::kJob : Exposed::kGpu;
}

FaultKind kind_named(std::string_view name) {
  const auto found = std::ranges::find(kFaultKindNames, name);
  return found == kFaultKindNames.end() ? FaultKind::kCrash : static_cast<FaultKind>(found - kFaultKindNames.begin());
}

std::vector<JobTime> read_times(ConfigMap& map) {
  std::vector<JobTime> times;
  for (const std::string& text : map.texts({.name = "times", .doc = "when faults were recorded, from the start"})) {
    const auto seconds = parse_seconds(text);
    if (!seconds) {
      map.error("times", "E401", fmt::format("'{}' is no time", text), "as: times: [3 h, 1.5 d]");
      continue;
    }
    times.push_back(job_seconds(*seconds));
  }
  if (times.empty() && !map.documenting())
    map.error("times", "E402", fmt::format("{} has no time", map.path_of("times")));
  std::ranges::sort(times);
  if (std::ssize(times) > kMostRecordedFaults) {
    map.error("times", "E404", fmt::format("there are {} recorded faults, and at most a million", times.size()));
  }
  return times;
}

// The process: exactly one of the keys.
void read_process(ConfigMap& map, ComponentClass& part) {
  constexpr std::array kProcesses{"mtbf", "per_million_hours", "count", "lifetime", "times"};
  const auto given = std::ranges::count_if(kProcesses, [&](const char* key) { return map.has(key); });
  if (given != 1) {
    map.error("", "E402", fmt::format("'{}' states {} failure processes, and needs one", map.path(), given),
              "mtbf, per_million_hours, count with exposure, lifetime, or times");
  }
  if (wants(map, "mtbf")) {
    const double mtbf = read_seconds(map, {.name = "mtbf", .doc = "mean time between faults of one part"});
    if (mtbf > 0.0) part.per_hour = 3600.0 / mtbf;
    if (!(mtbf > 0.0)) map.error("mtbf", "E402", "a mean time between faults is above zero");
  }
  if (wants(map, "per_million_hours")) {
    part.per_hour =
        map.number({.name = "per_million_hours", .doc = "faults of one part in a million hours", .min = 0.0}) / 1e6;
  }
  if (wants(map, "count")) {
    const double count = map.number({.name = "count", .doc = "faults observed during `exposure`", .min = 0.0});
    const double hours =
        read_seconds(map, {.name = "exposure", .doc = "hours of all observed parts together: 21233664 h"}) / 3600.0;
    if (hours > 0.0) part.per_hour = count / hours;
    if (!(hours > 0.0)) map.error("exposure", "E402", "an exposure is above zero");
  }
  if (wants(map, "lifetime")) {
    part.lifetime = read_spread(map, {.name = "lifetime", .doc = "from the start, or from a fault, to the next fault"});
    if (!(part.lifetime->mean() > 0.0)) map.error("lifetime", "E402", "a lifetime is above zero");
    // Without memory: sampled for all parts at once.
    if (part.lifetime->shape == SpreadShape::kExponential && part.lifetime->mean() > 0.0) {
      part.per_hour = 3600.0 / part.lifetime->mean();
      part.lifetime.reset();
    }
  }
  if (wants(map, "times")) part.times = read_times(map);
}

// How slow: one of both says it.
void check_slowdown(ConfigMap& map, bool nothing_set) {
  if (map.documenting() || map.has("slowdown") == nothing_set) return;
  if (nothing_set) {
    map.error("", "E402", fmt::format("'{}' is slow, and nothing says how slow", map.path()),
              "slowdown: 1.2, or values of the scenario as `set`");
  } else {
    map.error("slowdown", "E402", fmt::format("{} and 'set' both say how slow a step is", map.path_of("slowdown")),
              "leave out one");
  }
}

void read_effect(ConfigMap& map, const JobShape& job, ComponentClass& part, std::vector<std::string>& settings) {
  const std::string kind =
      map.choice({.name = "kind", .doc = "what the job notices", .fallback = std::string("crash")}, kFaultKindOptions);
  part.kind = kind_named(kind);
  part.hosts = map.integer({.name = "hosts",
                            .doc = "neighbouring hosts that a fault takes out; 0: processes restart where they are",
                            .fallback = 1,
                            .min = 0,
                            .max = 1'000'000});
  if (map.has("hosts") && part.hosts > job.hosts()) {
    map.error("hosts", "E402",
              fmt::format("{} is {}, and the job has {} host{}", map.path_of("hosts"), part.hosts, job.hosts(),
                          job.hosts() == 1 ? "" : "s"));
  }
  if (wants(map, "detect")) part.detect = read_spread(map, {.name = "detect", .doc = "instead of that of its kind"});
  if (wants(map, "repair")) {
    part.repair = read_spread(map, {.name = "repair", .doc = "until its hosts return, instead of the usual time"});
  }
  if (part.kind == FaultKind::kSlow || map.documenting()) {
    part.slowdown = map.number({.name = "slowdown",
                                .doc = "time of a step with the slow part, relative to a healthy one",
                                .fallback = 1.0,
                                .min = 1.0,
                                .max = 1e6});
    part.lasts = read_spread(
        map, {.name = "lasts", .doc = "until it recovers by itself; 0 s: never", .fallback = Spread::fixed(0.0)});
    part.evicts = map.boolean({.name = "evicts", .doc = "whether its host is replaced once found", .fallback = true});
    const KnownKeys known;
    ConfigMap set = map.map("set", "values of the scenario that simulate the slow step, instead of `slowdown`");
    for (const std::string& key : set.keys()) {
      if (!known.has(key)) set.error(key, "E301", known.why_unknown(key));
      settings.push_back(key + "=" + set.setting(key));
    }
    check_slowdown(map, settings.empty());
  }
  if (part.kind == FaultKind::kCorruption || map.documenting()) {
    part.found =
        map.percent({.name = "found", .doc = "share that is ever detected", .fallback = 1.0, .min = 0.0, .max = 1.0});
  }
}

// Proportional hazards, as of the cages of a rack (Ostrouchov et al., SC 2020, for the GPUs of Titan).
void read_places(ConfigMap map, ComponentClass& part) {
  for (const std::string& text : map.texts({.name = "factors", .doc = "of the hazard: [1, 1, 1.3], in turn"})) {
    const auto factor = read_number(text);
    if (factor && *factor >= 0.0 && *factor <= 1e6) {
      part.place_factors.push_back(*factor);
      continue;
    }
    map.error("factors", "E402", fmt::format("'{}' is no factor from 0 to 1000000", text));
  }
  part.place_hosts = map.integer(
      {.name = "hosts", .doc = "neighbouring hosts that have one factor", .fallback = 1, .min = 1, .max = 1'000'000});
  if (map.documenting()) return;
  if (part.place_factors.empty() || std::ranges::max(part.place_factors) <= 0.0) {
    map.error("factors", "E402", "a hazard by place needs a factor above zero", "as: by_place: {factors: [1, 1, 1.3]}");
    part.place_factors.clear();
  }
  if (part.per == Exposed::kJob || part.lifetime || !part.times.empty()) {
    map.error("", "E402", fmt::format("'{}' has a hazard by place, and no constant rate of a GPU or host", map.path()),
              "give mtbf, per_million_hours or count, per: gpu or per: host");
    part.place_factors.clear();
  }
}

ComponentClass read_component(ConfigMap map, const std::string& name, const JobShape& job,
                              std::vector<std::string>& settings) {
  ComponentClass part{.name = name};
  part.per = exposure_named(
      map.choice({.name = "per", .doc = "what there is one of", .fallback = std::string("gpu")}, kExposures));
  read_process(map, part);
  read_effect(map, job, part, settings);
  if (wants(map, "by_place")) read_places(map.map("by_place", "the hazard by the place of a host"), part);
  if (wants(map, "early")) {
    ConfigMap early = map.map("early", "a higher hazard at the start of the job");
    part.early_factor = early.number({.name = "factor", .doc = "relative to later", .min = 0.0, .max = 1e6});
    part.early_until = job_seconds(read_seconds(early, {.name = "until", .doc = "from the start of the job"}));
    if (part.lifetime || !part.times.empty()) {
      early.error("", "E402", fmt::format("'{}' has ages or recorded times, and no `early` hazard", map.path()),
                  "a Weibull lifetime with a shape below 1 has one");
    }
  }
  return part;
}

}  // namespace

std::vector<ComponentClass> read_components(ConfigMap root, const JobShape& job, RegimeSettings& regimes) {
  std::vector<ComponentClass> parts;
  ConfigMap components = root.map("components", "classes of equal parts that fail, by name");
  for (const std::string& name : names_in(components)) {
    std::vector<std::string> settings;
    parts.push_back(read_component(components.map(name, "a class of parts"), name, job, settings));
    if (!settings.empty()) regimes[name] = std::move(settings);
  }
  return parts;
}

}  // namespace ringwright::planning
