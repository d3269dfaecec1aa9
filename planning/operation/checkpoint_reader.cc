// The reader of checkpoints: `checkpoint` of a goodput file. Times are given, or follow from sizes and rates
// (workload/checkpoint/save_time.h).
#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include "core/config/scalar.h"
#include "planning/operation/operation_reader.h"
#include "planning/study/known_keys.h"
#include "workload/checkpoint/save_time.h"

namespace ringwright::planning {
namespace {

constexpr std::array kPlaces{Option{"storage", "a store that survives all hosts"},
                             Option{"peers", "memory of the host and of others, GEMINI's placement"},
                             Option{"host", "memory or drive of the host itself, lost with it"}};
constexpr std::array kPlacements{Option{"group", "`copies` hosts hold each other's state"},
                                 Option{"ring", "the next `copies` - 1 hosts hold it"},
                                 Option{"mixed", "groups, and a ring of what is left over; the same as group"}};
constexpr std::array kModes{Option{"blocking", "training waits until all is written"},
                            Option{"two_phase", "training waits for the snapshot; the rest is written meanwhile"}};

struct TierSizes {
  Bytes total;  // saved
  Bytes rank;
  Bytes loaded;  // after a fault: all of the state
  Bytes loaded_by_rank;
  std::int64_t ranks_per_host = 8;
};

// "100 steps", "30 min", "young", "daly", "best".
void read_every(ConfigMap& map, CheckpointTier& tier) {
  const std::string text =
      map.text({.name = "every", .doc = "time between checkpoints: 30 min, 100 steps, young, daly, or best"});
  if (text == "young" || text == "daly" || text == "best") {
    tier.rule = text == "young" ? IntervalRule::kYoung : text == "daly" ? IntervalRule::kDaly : IntervalRule::kBest;
    return;
  }
  if (text.ends_with(" steps") || text.ends_with(" step")) {
    const auto steps = read_integer(std::string_view(text).substr(0, text.rfind(' ')));
    if (steps && *steps > 0) {
      tier.every_steps = *steps;
      return;
    }
  } else if (const auto seconds = parse_seconds(text); seconds && *seconds > 0.0) {
    tier.every = *seconds;
    return;
  }
  tier.every_steps = 1;
  if (map.has("every")) {
    map.error("every", "E405", fmt::format("{} is '{}', and is no interval", map.path_of("every"), text),
              "as: 30 min, 100 steps, young, daly, or best");
  }
}

Bandwidth read_rate(ConfigMap& map, std::string_view name, std::string_view doc) {
  if (!wants(map, name)) return Bandwidth();
  return map.bandwidth({.name = name, .doc = doc, .min = Bandwidth(1.0)});
}

JobTime read_given(ConfigMap& map, std::string_view name, std::string_view doc) {
  return job_seconds(read_seconds(map, {.name = name, .doc = doc}));
}

void need_size(ConfigMap& map, const TierSizes& sizes) {
  if (sizes.total > Bytes()) return;
  map.error("", "E405", fmt::format("'{}' follows from the size of a checkpoint, which is not known", map.path()),
            "give checkpoint.state, name a scenario with a model, or give stall, write and load");
}

// Rates of a time that is given itself, or simulated.
void list_idle_rates(ConfigMap& map, std::initializer_list<std::string_view> rates, std::string_view given) {
  if (map.documenting() || !map.has(given)) return;
  for (const std::string_view rate : rates) {
    if (!map.has(rate)) continue;
    map.warn(rate, "W131", fmt::format("{} has no effect: '{}' says how long that takes", map.path_of(rate), given));
  }
}

void list_idle_storage_rates(ConfigMap& map, bool two_phase) {
  for (const std::string_view given : {"write", "simulate"}) {
    list_idle_rates(map, {"serialise", "per_gpu", "per_host", "total", "overhead"}, given);
  }
  // Training waits for all of it.
  if (!two_phase && !map.has("write")) {
    list_idle_rates(map, {"serialise", "per_gpu", "per_host", "total", "overhead"}, "stall");
  }
  for (const std::string_view given : {"stall", "simulate"}) list_idle_rates(map, {"snapshot", "hidden"}, given);
  list_idle_rates(map, {"read_per_gpu", "read_per_host", "read_total"}, "load");
}

void read_storage_times(ConfigMap& map, const TierSizes& sizes, CheckpointTier& tier) {
  const bool two_phase =
      map.choice({.name = "mode", .doc = "what training waits for", .fallback = std::string("blocking")}, kModes) ==
      "two_phase";
  const workload::SavePath path{.serialise = read_rate(map, "serialise", "serialised by one GPU's process"),
                                .per_rank = read_rate(map, "per_gpu", "written by one GPU's process"),
                                .per_host = read_rate(map, "per_host", "written by one host"),
                                .store = read_rate(map, "total", "written by the whole job"),
                                .overhead = map.duration({.name = "overhead",
                                                          .doc = "of a save besides its bytes: plan, metadata, commit",
                                                          .fallback = Duration(),
                                                          .min = Duration()})};
  const workload::SavePath back{.per_rank = read_rate(map, "read_per_gpu", "read by one GPU's process"),
                                .per_host = read_rate(map, "read_per_host", "read by one host"),
                                .store = read_rate(map, "read_total", "read by the whole job")};
  const workload::SaveSize size{.total = sizes.total, .rank = sizes.rank, .ranks_per_host = sizes.ranks_per_host};
  const workload::SaveSize loaded{
      .total = sizes.loaded, .rank = sizes.loaded_by_rank, .ranks_per_host = sizes.ranks_per_host};
  const bool rates = std::max({path.serialise, path.per_rank, path.per_host, path.store}) > Bandwidth();
  if (rates) need_size(map, sizes);
  const JobTime written = job_time(workload::write_time(size, path));
  tier.write = wants(map, "write") ? read_given(map, "write", "until a version counts, after the stall") : written;
  if (two_phase || map.documenting()) {
    const Bandwidth snapshot = read_rate(map, "snapshot", "from one GPU to host memory");
    const Duration hidden = map.duration(
        {.name = "hidden", .doc = "time of the snapshot that passes hide", .fallback = Duration(), .min = Duration()});
    if (snapshot > Bandwidth()) need_size(map, sizes);
    tier.stall = job_time(workload::snapshot_stall(sizes.rank, snapshot, hidden));
  } else if (!map.has("write")) {
    tier.stall = written;
    tier.write = {};
  }
  if (wants(map, "stall")) tier.stall = read_given(map, "stall", "of training, per checkpoint");
  const bool reads = back.per_rank > Bandwidth() || back.per_host > Bandwidth() || back.store > Bandwidth();
  if (reads) need_size(map, sizes);
  tier.load = wants(map, "load") ? read_given(map, "load", "until all ranks hold a version again")
                                 : job_time(workload::write_time(loaded, back));
  list_idle_storage_rates(map, two_phase);
}

// Those that hold a version are hosts of the job, and all different.
void check_distance(ConfigMap& map, std::string_view key, const JobShape& job, const CheckpointTier& tier) {
  if (tier.copies * tier.jump <= job.hosts()) return;
  map.error(key, "E405",
            fmt::format("groups of {} hosts, {} apart, need {}, and the job has {}", tier.copies, tier.jump,
                        tier.copies * tier.jump, job.hosts()),
            fmt::format("{}, or a smaller jump", key == "copies" ? "fewer copies" : "a smaller group"));
}

// Who holds versions in memory.
void read_holders(ConfigMap& map, const JobShape& job, CheckpointTier& tier) {
  tier.parity = map.integer({.name = "parity",
                             .doc = "parts of a group's stripes that are parity (erasure coding, as REFT); 0: copies",
                             .fallback = 0,
                             .min = 0,
                             .max = 1000});
  if (tier.parity == 0 || map.documenting()) {
    tier.copies = map.integer(
        {.name = "copies", .doc = "of each host's state, the own one included", .fallback = 2, .min = 2, .max = 1000});
    const std::string placement = map.choice(
        {.name = "placement", .doc = "who holds whose state", .fallback = std::string("group")}, kPlacements);
    if (placement == "ring") tier.placement = Placement::kRing;
    if (placement == "mixed") tier.placement = Placement::kMixed;
  }
  if (tier.parity > 0 || map.documenting()) {
    tier.copies = map.integer(
        {.name = "group", .doc = "hosts whose states share parity, in stripes", .fallback = 4, .min = 2, .max = 1000});
  }
  tier.jump = map.integer(
      {.name = "jump", .doc = "hosts between the members of a group", .fallback = 1, .min = 1, .max = 1'000'000});
  if (map.documenting()) return;
  if (tier.parity == 0) return check_distance(map, "copies", job, tier);
  for (const std::string_view key : {"copies", "placement"}) {
    if (map.has(key)) {
      map.error(key, "E405", fmt::format("'{}' and 'parity' both say how versions survive", map.path_of(key)),
                "leave one of them out");
    }
  }
  if (tier.copies <= tier.parity) {
    map.error("group", "E405",
              fmt::format("a group of {} hosts cannot have {} parts of parity", tier.copies, tier.parity),
              "a larger group, or less parity");
    tier.copies = tier.parity + 1;
  } else {
    check_distance(map, "group", job, tier);
  }
}

// With a time that copies to peers, or parity, take on NICs.
void read_peer_times(ConfigMap& map, const TierSizes& sizes, Bandwidth nic, CheckpointTier& tier) {
  need_size(map, sizes);
  const Duration idle = map.duration({.name = "idle",
                                      .doc = "of the NIC between two checkpoints, which copies use; 0: they block",
                                      .fallback = Duration(),
                                      .min = Duration()});
  const std::int64_t sent = tier.parity > 0 ? tier.parity : tier.copies - 1;
  tier.stall = job_time(workload::peer_copy_stall({.rank = sizes.rank, .copies = 1 + sent, .nic = nic, .idle = idle}));
  // A lost host fetches its own state, or what it needs to decode it; the others have theirs.
  const workload::ParityGroup group{.rank = sizes.loaded_by_rank, .hosts = tier.copies, .parity = tier.parity};
  const Bytes fetched = tier.parity > 0 ? workload::parity_repair(group) : sizes.loaded_by_rank;
  tier.load = job_time(transfer_time(fetched, nic));
}

void read_memory_times(ConfigMap& map, const TierSizes& sizes, CheckpointTier& tier) {
  const Bandwidth nic = read_rate(map, "nic", "of one GPU, for copies to peers");
  const bool at_peers = tier.place == CheckpointPlace::kPeers;
  if (map.documenting() || (nic > Bandwidth() && at_peers)) read_peer_times(map, sizes, nic, tier);
  if (map.documenting() || (tier.parity > 0 && at_peers)) {
    const Bandwidth encode = read_rate(map, "encode", "by one GPU's process, of the parity it computes");
    if (encode > Bandwidth()) {
      need_size(map, sizes);
      tier.write = job_time(transfer_time(sizes.rank * tier.parity, encode));
    }
  }
  if (wants(map, "stall")) tier.stall = read_given(map, "stall", "of training, per checkpoint");
  if (wants(map, "write")) tier.write = read_given(map, "write", "until a version counts, after the stall");
  if (wants(map, "load")) tier.load = read_given(map, "load", "until all ranks hold a version again");
  for (const std::string_view given : {"stall", "simulate"}) {
    list_idle_rates(map, {"idle"}, given);
    if (map.has("load")) list_idle_rates(map, {"nic"}, given);
  }
  list_idle_rates(map, {"encode"}, "write");
  tier.outlives_process = map.boolean({.name = "snapshot_process",
                                       .doc = "in-memory checkpoints belong to a separate process that survives "
                                              "the training process",
                                       .fallback = true});
  if (sizes.loaded_by_rank == Bytes()) return;
  const workload::ParityGroup group{.rank = sizes.loaded_by_rank, .hosts = tier.copies, .parity = tier.parity};
  const Bytes rank = !at_peers ? group.rank : tier.parity > 0 ? workload::parity_held(group) : group.rank * tier.copies;
  tier.held = rank * sizes.ranks_per_host;
}

// Settings of the scenario with which its step has one checkpoint.
std::vector<std::string> read_simulated(ConfigMap& map, const ScenarioFacts& facts) {
  std::vector<std::string> settings;
  if (!map.has("simulate") && !map.documenting()) return settings;
  ConfigMap simulate = map.map("simulate", "`checkpoint` of the scenario, whose simulated step gives stall and write");
  if (facts.saves) {
    simulate.error("", "E405", "the scenario has a checkpoint in every step, so that no step is without one",
                   "leave 'checkpoint' out of the scenario");
  }
  for (const std::string_view given : {"stall", "write"}) {
    if (map.has(given)) simulate.error("", "E405", fmt::format("'{}' is given, too", map.path_of(given)));
  }
  const KnownKeys known;
  for (const std::string& key : simulate.keys()) {
    const std::string full = "checkpoint." + key;
    if (!known.has(full)) simulate.error(key, "E301", known.why_unknown(full));
    if (key == "every") simulate.error(key, "E405", "the interval of a tier is its own 'every'");
    settings.push_back(full + "=" + simulate.setting(key));
  }
  if (settings.empty()) settings.emplace_back("checkpoint.to=host_memory");
  return settings;
}

// Unless the stall is given, simulated, or follows from a rate that hides all of it.
void warn_of_no_stall(ConfigMap& map, const CheckpointTier& tier) {
  if (map.documenting() || tier.stall > JobTime() || map.has("stall") || map.has("simulate")) return;
  if (map.has("snapshot") || map.has("nic")) return;
  const bool stored = tier.place == CheckpointPlace::kStorage;
  std::string hint = stored ? "stall: 3 s, or per_host: 5GB/s" : "stall: 3 s";
  if (stored && map.has("write")) hint = "stall: 3 s; training goes on during 'write'";
  map.warn("", "W410", fmt::format("checkpoint '{}' stalls training for no time", tier.name), hint);
}

CheckpointTier read_tier(ConfigMap map, const std::string& name, const TierSizes& all, const JobShape& job) {
  CheckpointTier tier{.name = name};
  const std::string place =
      map.choice({.name = "place", .doc = "where versions are", .fallback = std::string("storage")}, kPlaces);
  if (place == "peers") tier.place = CheckpointPlace::kPeers;
  if (place == "host") tier.place = CheckpointPlace::kHost;
  read_every(map, tier);
  const double share = map.percent({.name = "incremental",
                                    .doc = "share of the state that a version saves; 100 %: all",
                                    .fallback = 1.0,
                                    .min = 1e-6,
                                    .max = 1.0});
  const TierSizes sizes{.total = workload::incremental(all.total, share),
                        .rank = workload::incremental(all.rank, share),
                        .loaded = all.total,
                        .loaded_by_rank = all.rank,
                        .ranks_per_host = all.ranks_per_host};
  if (map.documenting() || tier.place == CheckpointPlace::kPeers) read_holders(map, job, tier);
  const bool stored = tier.place == CheckpointPlace::kStorage;
  if (stored || map.documenting()) read_storage_times(map, sizes, tier);
  if (!stored || map.documenting()) read_memory_times(map, sizes, tier);
  const bool loads_free = tier.load == JobTime() && tier.place != CheckpointPlace::kHost;
  if (loads_free && !map.has("load") && !map.documenting()) {
    map.warn("", "W409", fmt::format("checkpoint '{}' loads in no time", name),
             stored ? "read_per_host: 5GB/s or read_total: 500GB/s, or load: 1 min" : "nic: 50GB/s, or load: 5 s");
  }
  warn_of_no_stall(map, tier);
  return tier;
}

}  // namespace

std::string regime_of(const CheckpointTier& tier) {
  return "checkpoint.tiers." + tier.name;
}

std::vector<CheckpointTier> read_checkpoint(ConfigMap root, const ScenarioFacts& facts, const JobShape& job,
                                            RegimeSettings& regimes) {
  ConfigMap checkpoint = root.map("checkpoint", "what is saved, and where");
  TierSizes sizes{.total = facts.state, .rank = facts.rank_state, .ranks_per_host = job.gpus_per_host};
  if (wants(checkpoint, "state")) {
    sizes.total =
        checkpoint.bytes({.name = "state",
                          .doc = "size of a checkpoint; default: weights and optimizer state of the scenario's model",
                          .min = Bytes(1)});
    sizes.rank = Bytes((sizes.total.count() + job.gpus - 1) / std::max<std::int64_t>(1, job.gpus));
  }
  std::vector<CheckpointTier> tiers;
  ConfigMap by_name = checkpoint.map("tiers", "kinds of checkpoints, by name; memory first, storage last");
  for (const std::string& name : names_in(by_name)) {
    ConfigMap tier = by_name.map(name, "a kind of checkpoint");
    tiers.push_back(read_tier(tier, name, sizes, job));
    if (auto settings = read_simulated(tier, facts); !settings.empty()) {
      if (tier.has("incremental")) settings.push_back("checkpoint.incremental=" + tier.setting("incremental"));
      regimes[regime_of(tiers.back())] = std::move(settings);
    }
  }
  const auto best = [](const CheckpointTier& tier) { return tier.rule != IntervalRule::kGiven; };
  if (std::ranges::count_if(tiers, best) > 1) {
    by_name.error("", "E405", "one tier at most has an interval that is searched or computed",
                  "give the others a time or a number of steps");
  }
  return tiers;
}

}  // namespace ringwright::planning
