#include "workload/recommendation/recommendation_config.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workload/recommendation/upkeep_config.h"

#include "core/config/choice_of.h"
namespace ringwright::workload {
namespace {

using namespace literals;

constexpr std::int64_t kMostRows = 1'000'000'000'000;
constexpr std::int64_t kMostParts = 100'000;  // of tables together
constexpr std::int64_t kMostColumns = 65'536;
constexpr double kUneven = 1.5;              // largest cost by mean, above which W550 is reported
constexpr std::int64_t kNarrowestPart = 32;  // columns, where column_shards is not given

constexpr std::array kInteractions = {
    Option{"dot", "dot products of all pairs of vectors, behind the bottom MLP's output (DLRM)"},
    Option{"cat", "all vectors one after another"},
    Option{"dcn", "all vectors one after another, through low-rank cross layers (DCN-v2)"}};
constexpr std::array kInteractionValues = {Interaction::kDot, Interaction::kCat, Interaction::kDcn};

constexpr std::array kShardings = {Option{"auto", "tables whole where they balance and fit, split by rows otherwise"},
                                   Option{"table_wise", "each table whole on one rank"},
                                   Option{"row_wise", "rows over all ranks"},
                                   Option{"column_wise", "columns in `column_shards` parts, each on one rank"},
                                   Option{"table_row_wise", "each table on one host, its rows over the host's ranks"},
                                   Option{"data_parallel", "a copy on every rank; its gradient is all-reduced"}};
constexpr std::array kShardingValues = {Sharding::kAuto, Sharding::kTableWise, Sharding::kRowWise,
                                        Sharding::kColumnWise, Sharding::kTableRowWise, Sharding::kDataParallel};

constexpr std::array kSparseOptimizers = {Option{"sgd", "no state"},
                                          Option{"rowwise_adagrad", "one fp32 value for each row of a table"},
                                          Option{"adagrad", "one fp32 value for each weight"}};
constexpr std::array kSparseOptimizerValues = {SparseOptimizer::kSgd, SparseOptimizer::kRowwiseAdagrad,
                                               SparseOptimizer::kAdagrad};

constexpr std::array kFrameworks = {
    Option{"torchrec", "TorchRec on PyTorch, with DistributedDataParallel"},
    Option{"hugectr", "HugeCTR: indices exchanged and sorted a batch ahead, fused epilogues of GEMMs, weight gradients "
                      "last, one all-reduce of dense gradients in the type of the GEMMs"}};
constexpr std::array kFrameworkValues = {RecommenderFramework::kTorchRec, RecommenderFramework::kHugeCtr};

constexpr std::array kDenseTypes = {Option{"fp32", ""}, Option{"tf32", "GEMMs of fp32 on tensor cores"},
                                    Option{"bf16", ""}, Option{"fp16", ""}};
constexpr std::array kDenseTypeValues = {DataType::kFp32, DataType::kTf32, DataType::kBf16, DataType::kFp16};
constexpr std::array kTableTypes = {Option{"fp32", ""}, Option{"bf16", ""}, Option{"fp16", ""}, Option{"fp8", ""}};
constexpr std::array kTableTypeValues = {DataType::kFp32, DataType::kBf16, DataType::kFp16, DataType::kFp8};

constexpr std::array kQuantisedTypes = {
    Option{"fp32", ""}, Option{"bf16", ""}, Option{"fp16", ""}, Option{"fp8", ""},
    Option{"int8", "one byte for each value, and a scale and an offset of two bytes for each row"},
    Option{"int4", "half a byte for each value, and a scale and an offset of two bytes for each row"}};
constexpr double kRowScale = 4.0;  // an fp16 scale and an fp16 offset (arXiv 1911.02079)

// Integers take the bytes of the narrow type of their width.
void read_table_type(ConfigMap& map, RecommendationModel& model) {
  const std::string name = map.choice({.name = "embedding_precision",
                                       .doc = "type of embedding tables; integers are for tables that are quantised "
                                              "after training",
                                       .fallback = std::string("fp32")},
                                      kQuantisedTypes);
  const auto known = std::ranges::find(kTableTypes, name, &Option::name);
  if (known != kTableTypes.end()) {
    model.embedding_precision = kTableTypeValues[static_cast<std::size_t>(known - kTableTypes.begin())];
    return;
  }
  model.embedding_precision = name == "int8" ? DataType::kFp8 : DataType::kFp4;
  model.row_scale = kRowScale;
}

// The largest power of two that leaves parts of at least kNarrowestPart columns, at most one for each rank.
std::int64_t default_shards(std::int64_t dim, std::int64_t ranks) {
  std::int64_t shards = 1;
  while (shards * 2 <= ranks && dim % (shards * 2) == 0 && dim / (shards * 2) >= kNarrowestPart) shards *= 2;
  return shards;
}

void read_column_shards(ConfigMap& map, std::int64_t ranks, TableGroup& group) {
  if (group.sharding != Sharding::kColumnWise && !map.documenting()) {
    if (map.has("column_shards")) map.ignore("column_shards", "only 'sharding: column_wise' splits columns");
    return;
  }
  group.column_shards =
      map.integer_or({.name = "column_shards",
                      .doc = "parts of equal width; default: as many as ranks, in powers of two, of 32 columns or more",
                      .min = 1,
                      .max = kMostColumns},
                     "auto")
          .value_or(default_shards(group.dim, ranks));
  if (group.column_shards == 1 && !map.has("column_shards") && ranks > 1) {
    map.warn("sharding", "W551",
             fmt::format("{} columns are too few for parts of {}: tables stay whole, as with table_wise", group.dim,
                         kNarrowestPart),
             "set column_shards to split them all the same");
  }
  if (group.dim % group.column_shards == 0) return;
  map.error("column_shards", "E550",
            fmt::format("{} = {} does not divide the {} columns of the table", map.path_of("column_shards"),
                        group.column_shards, group.dim),
            fmt::format("take {}", default_shards(group.dim, ranks)));
  group.column_shards = 1;
}

TableGroup read_group(ConfigMap& map, std::string_view sharding, std::int64_t ranks) {
  TableGroup group;
  group.count =
      map.integer({.name = "count", .doc = "tables of this shape", .fallback = 1, .min = 1, .max = kMostParts});
  group.rows = map.integer({.name = "rows", .doc = "rows of each table", .min = 1, .max = kMostRows});
  group.dim = map.integer({.name = "dim", .doc = "columns of each table", .min = 1, .max = kMostColumns});
  group.pooling = map.number({.name = "pooling",
                              .doc = "rows that a sample looks up in each table and sums, on average",
                              .fallback = 1.0,
                              .min = 1e-3,
                              .max = 1e6});
  group.sharding = choice_of(map,
                               {.name = "sharding",
                                .doc = "how these tables are split over ranks; default: recommendation.sharding",
                                .fallback = std::string(sharding)},
                               kShardings, kShardingValues);
  read_column_shards(map, ranks, group);
  return group;
}

void read_tables(ConfigMap& map, std::int64_t ranks, RecommendationModel& model) {
  const std::string sharding = map.choice({.name = "sharding",
                                           .doc = "how tables are split over ranks that do not say it themselves",
                                           .fallback = std::string("auto")},
                                          kShardings);
  std::int64_t parts = 0;
  for (ConfigMap& table : map.maps("tables", "embedding tables, in groups of equal ones")) {
    model.tables.push_back(read_group(table, sharding, ranks));
    parts += model.tables.back().count * model.tables.back().column_shards;
  }
  if (map.documenting()) return;
  if (parts > kMostParts) {
    map.error("tables", "E553",
              fmt::format("{} tables and parts of tables; at most {} can be placed", parts, kMostParts),
              "join tables of one shape: fewer of them with a higher pooling");
    model.tables.clear();
  }
  if (parts == 0) {
    map.error("tables", "E550", fmt::format("{} has no tables", map.path()),
              "tables: [{count: 8, rows: 1000000, dim: 64, pooling: 100}]");
  }
  if (model.tables.empty()) model.tables.push_back({});
}

std::vector<std::int64_t> read_widths(ConfigMap& map, std::string_view name, std::string_view doc) {
  auto widths = map.integers({.name = name, .doc = doc, .min = 1, .max = kMostColumns * 16});
  if (!widths.empty()) return widths;
  if (!map.documenting() && map.has(name)) {
    map.error(name, "E550", fmt::format("{} needs at least one layer", map.path_of(name)),
              fmt::format("{}: [512, 256, 128]", name));
  }
  return {1};
}

void read_layers(ConfigMap& map, RecommendationModel& model) {
  model.dense_features = map.integer(
      {.name = "dense_features", .doc = "continuous features of a sample", .min = 1, .max = kMostColumns * 16});
  model.bottom_mlp = read_widths(map, "bottom_mlp", "widths of the layers that dense features pass through");
  model.top_mlp = read_widths(map, "top_mlp", "widths of the layers behind the interaction, the output's included");
  model.interaction = choice_of(
      map, {.name = "interaction", .doc = "how a sample's vectors are combined", .fallback = std::string("dot")},
      kInteractions, kInteractionValues);
  if (model.interaction == Interaction::kDcn || map.documenting()) {
    model.dcn_layers =
        map.integer({.name = "dcn_layers", .doc = "cross layers of DCN-v2", .fallback = 3, .min = 1, .max = 1000});
    model.dcn_low_rank = map.integer({.name = "dcn_low_rank",
                                      .doc = "rank of the two factors of a cross layer's weight",
                                      .fallback = 512,
                                      .min = 1,
                                      .max = kMostColumns});
    return;
  }
  for (const std::string_view key : {"dcn_layers", "dcn_low_rank"}) {
    if (map.has(key)) map.ignore(key, "only 'interaction: dcn' has cross layers");
  }
}

void check_dot(ConfigMap& map, RecommendationModel& model) {
  if (model.interaction != Interaction::kDot || map.documenting()) return;
  const std::int64_t dim = model.bottom_mlp.back();
  for (const TableGroup& group : model.tables) {
    if (group.dim == dim) continue;
    map.error("interaction", "E550",
              fmt::format("dot products need vectors of one width, but a table has {} columns and the bottom MLP ends "
                          "with {}",
                          group.dim, dim),
              fmt::format("let {} end with {}, or set {}: cat", map.path_of("bottom_mlp"), group.dim,
                          map.path_of("interaction")));
    model.interaction = Interaction::kCat;
    return;
  }
}

void read_types(ConfigMap& map, const GpuSpec& gpu, RecommendationModel& model) {
  model.precision =
      choice_of(map, {.name = "precision", .doc = "type of the dense layers' GEMMs", .fallback = std::string("fp32")},
                  kDenseTypes, kDenseTypeValues);
  read_table_type(map, model);
  model.comm_precision = choice_of(map,
                                     {.name = "comm_precision",
                                      .doc = "type in which pooled rows and their gradients pass between ranks",
                                      .fallback = std::string("fp32")},
                                     kTableTypes, kTableTypeValues);
  if (map.documenting() || gpu.name.empty() || gpu.peak_of(model.precision) > FlopRate(0.0)) return;
  map.error("precision", "E135",
            fmt::format("{} = {}, but {} has no {} arithmetic (cluster.node.gpu.peak)", map.path_of("precision"),
                        to_string(model.precision), gpu.name, to_string(model.precision)),
            fmt::format("set {}: fp32", map.path_of("precision")));
}

void read_cache(ConfigMap& map, EmbeddingCache& cache) {
  if (!map.has("cache") && !map.documenting()) return;
  ConfigMap own = map.map("cache", "rows that GPUs keep of tables in host memory; without it tables are in GPU memory");
  cache.rows = own.percent({.name = "rows",
                            .doc = "share of each table's rows that the GPU holds, the most popular ones (HugeCTR)",
                            .fallback = 1.0,
                            .min = 0.0,
                            .max = 1.0});
  cache.lookahead = own.integer({.name = "lookahead",
                                 .doc = "batches ahead whose rows are fetched (Bagpipe), not the most popular; 0: off",
                                 .fallback = 0,
                                 .min = 0,
                                 .max = 10'000});
  if (!map.documenting() && own.has("rows") && own.has("lookahead")) {
    own.error("rows", "E550", fmt::format("{} and {} are two kinds of cache", own.path_of("rows"),
                                          own.path_of("lookahead")), "leave one of them out");
  }
}

void read_step(ConfigMap& map, std::int64_t ranks, RecommendationModel& model) {
  model.global_batch =
      map.integer({.name = "global_batch", .doc = "samples of a training step", .min = 1, .max = 1'000'000'000});
  model.optimizer = choice_of(map,
                                {.name = "optimizer",
                                 .doc = "of tables; dense layers have Adagrad, or SGD as tables",
                                 .fallback = std::string("rowwise_adagrad")},
                                kSparseOptimizers, kSparseOptimizerValues);
  constexpr std::string_view kGather = "speed of table rows at random, relative to a stream of the same bytes";
  model.gather_efficiency =
      map.percent({.name = "gather_efficiency", .doc = kGather, .fallback = 1.0, .min = 0.01, .max = 1.0});
  if (!map.has("gather_efficiency")) map.assume("gather_efficiency", "100%", kGather);
  model.zipf = map.number({.name = "zipf",
                           .doc = "skew of lookups: the i-th most popular row has a share of i^-zipf of them; 0: none",
                           .fallback = 0.0,
                           .min = 0.0,
                           .max = 4.0});
  model.fixed_bags = map.boolean({.name = "fixed_bags",
                                  .doc = "whether the rows that a sample looks up in a table follow from the first of "
                                         "them, as in MLPerf's Criteo data, instead of being drawn one by one",
                                  .fallback = false});
  read_cache(map, model.cache);
  model.framework = choice_of(
      map, {.name = "framework", .doc = "how the step is run", .fallback = std::string("torchrec")}, kFrameworks,
      kFrameworkValues);
  model.forward_only = map.boolean({.name = "forward_only",
                                    .doc = "whether the step is one of evaluation: no backward pass and no update",
                                    .fallback = false});
  model.replicate_below =
      map.bytes({.name = "replicate_below",
                 .doc = "with sharding auto, tables that are smaller, with their optimizer state, have a copy on every "
                        "rank (HugeCTR's dp_sharding_threshold); 0: none",
                 .fallback = Bytes(0),
                 .min = Bytes(0)});
  model.prefetch_indices = map.boolean({.name = "prefetch_indices",
                                        .doc = "whether the indices of the next batch are exchanged during this step "
                                               "(TorchRec's TrainPipelineSparseDist)",
                                        .fallback = false});
  model.bucket = map.bytes({.name = "ddp_bucket",
                            .doc = "gradients that are all-reduced together (bucket_cap_mb of PyTorch)",
                            .fallback = 25_MiB,
                            .min = 1_KiB});
  if (map.documenting() || model.global_batch % ranks == 0) return;
  const std::int64_t rounded = std::max<std::int64_t>(1, model.global_batch / ranks) * ranks;
  map.error("global_batch", "E551",
            fmt::format("{} is {} and must be divisible by the {} ranks", map.path_of("global_batch"),
                        model.global_batch, ranks),
            fmt::format("set {}: {}", map.path_of("global_batch"), rounded));
  model.global_batch = rounded;
}

}  // namespace

RecommendationModel read_recommendation(ConfigMap& map, const RecommendationMachine& machine) {
  RecommendationModel model;
  model.name = map.text({.name = "name", .doc = "of the model", .fallback = std::string("recommendation model")});
  read_layers(map, model);
  read_tables(map, machine.ranks, model);
  check_dot(map, model);
  read_types(map, machine.gpu, model);
  read_step(map, machine.ranks, model);
  model.upkeep = read_upkeep(map, weight_bits(model));
  const KernelProfile& kernels = machine.gpu.kernels;
  model.lookup_cache = {.bytes = scale(machine.gpu.l2, kernels[KernelConstant::kStreamCacheShare]),
                        .speed = kernels[KernelConstant::kStreamCacheSpeed]};
  return model;
}

void check_balance(ConfigMap& map, const TablePlacement& placement) {
  const double largest = placement.split_cost + placement.largest_cost;
  const double mean = placement.split_cost + placement.mean_cost;
  if (!(largest > kUneven * mean)) return;
  map.warn("tables", "W550",
           fmt::format("one rank has {:.2f} times the mean share of lookups and pooled rows; every all-to-all has the "
                       "size of the largest rank's",
                       largest / mean),
           "split the largest tables: sharding: row_wise or column_wise");
}

}  // namespace ringwright::workload
