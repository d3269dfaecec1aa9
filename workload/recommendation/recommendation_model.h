// A deep learning recommendation model (DLRM) and how its step is run: tables of embeddings split over ranks, and dense
// layers that every rank has.
//
// Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems", arXiv 1906.00091.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/kernel.h"
#include "workload/recommendation/recommender_framework.h"

namespace ringwright::workload {

// How the vectors of a sample are combined: all pairwise dot products (DLRM), concatenated, or concatenated and passed
// through low-rank cross layers (DCN-v2, arXiv 2008.13535).
enum class Interaction { kDot, kCat, kDcn };

// TorchRec's types of sharding: a whole table on one rank; its rows, or its columns, over ranks; its rows over the
// ranks of one host; or a copy on each.
enum class Sharding { kAuto, kTableWise, kRowWise, kColumnWise, kTableRowWise, kDataParallel };

// Of tables. Dense layers have Adagrad's state unless it is SGD. Row-wise Adagrad has one value for each row
// (FBGEMM EXACT_ROWWISE_ADAGRAD), Adagrad one for each weight.
enum class SparseOptimizer { kSgd, kRowwiseAdagrad, kAdagrad };

// Equal tables of one feature each.
struct TableGroup {
  std::int64_t count = 1;
  std::int64_t rows = 1;
  std::int64_t dim = 1;
  double pooling = 1.0;  // rows that a sample looks up and sums, on average
  Sharding sharding = Sharding::kAuto;
  std::int64_t column_shards = 1;  // kColumnWise: parts of equal width
};

// Where the rows of tables that are not copied to all ranks are. `rows` below 1, or a lookahead: in the memory of the
// rank's host, and a cache in GPU memory has the most popular ones (HugeCTR), or those of the next batches (Bagpipe).
struct EmbeddingCache {
  double rows = 1.0;           // share of a table's rows that the cache holds
  std::int64_t lookahead = 0;  // batches ahead whose rows are fetched before they are needed; 0: fetched when needed

  [[nodiscard]] bool on() const { return rows < 1.0 || lookahead > 0; }
};

// How tables are saved and restored, for `ringwright embeddings` (planning/embeddings).
enum class TableCheckpoints { kFull, kOneShot, kConsecutive, kIntermittent };

struct EmbeddingUpkeep {
  TableCheckpoints checkpoints = TableCheckpoints::kFull;
  Duration interval;                     // between two checkpoints
  std::int64_t bits = 32;                // of a saved weight; at most those of a table's
  Bandwidth storage;                     // of all writers, and readers, together
  Duration time_between_failures;        // of any server
  Duration restart;                      // from a failure until training goes on, without loading
  std::int64_t servers = 1;              // that hold the tables in equal parts
  double portion_of_lost_samples = 0.1;  // that partial recovery may lose (PLS of CPR)
  std::int64_t data_servers = 4;         // of a group with erasure code
  std::int64_t parity_servers = 1;
  Bandwidth server_bandwidth;  // of a server's NIC
};

// What a lookup finds in the last-level cache of the GPU.
struct LookupCache {
  Bytes bytes;         // that rows can have; none: every row comes from memory
  double speed = 1.0;  // relative to that of memory
};

struct RecommendationModel {
  std::string name;
  std::int64_t dense_features = 1;
  std::vector<std::int64_t> bottom_mlp;  // widths of layers
  std::vector<std::int64_t> top_mlp;
  Interaction interaction = Interaction::kDot;
  std::int64_t dcn_layers = 0;
  std::int64_t dcn_low_rank = 0;
  std::vector<TableGroup> tables;

  std::int64_t global_batch = 1;
  DataType precision = DataType::kFp32;  // of dense layers' GEMMs
  DataType embedding_precision = DataType::kFp32;
  double row_scale = 0.0;                     // bytes of each row that state what its quantised values mean
  DataType comm_precision = DataType::kFp32;  // of pooled embeddings and their gradients between ranks
  SparseOptimizer optimizer = SparseOptimizer::kRowwiseAdagrad;
  double gather_efficiency = 1.0;  // speed of rows at random, relative to a stream of the same bytes
  double zipf = 0.0;  // the row of rank i is looked up with a probability proportional to i^-zipf; 0: all equally
  // The rows that a sample looks up in a table follow from the first of them; otherwise each is drawn independently.
  bool fixed_bags = false;
  LookupCache lookup_cache;
  EmbeddingCache cache;
  EmbeddingUpkeep upkeep;
  RecommenderFramework framework = RecommenderFramework::kTorchRec;
  bool prefetch_indices = false;  // indices of the next batch are exchanged during this step
  bool forward_only = false;      // evaluation: no backward pass and no update
  Bytes bucket;                   // of gradients that are reduced together
  Bytes replicate_below;          // auto: smaller tables, with their optimizer state, have a copy on every rank
};

// Dense weights are fp32.
inline constexpr double kDenseBytes = 4.0;

// Of an index, or a length, of a feature: 64-bit integers in TorchRec's KeyedJaggedTensor.
[[nodiscard]] double index_bytes(const RecommendationModel& model);
// Of a dense gradient between ranks.
[[nodiscard]] double gradient_bytes(const RecommendationModel& model);

// To the nearest byte.
[[nodiscard]] inline Bytes as_bytes(double bytes) { return scale(Bytes(1), bytes); }
[[nodiscard]] std::int64_t table_count(const RecommendationModel& model);
// Columns of all tables together.
[[nodiscard]] std::int64_t embedding_columns(const RecommendationModel& model);
// Of a weight of a table.
[[nodiscard]] std::int64_t weight_bits(const RecommendationModel& model);
// Weights of `columns` columns of one row, with its scale.
[[nodiscard]] double row_weight_bytes(const RecommendationModel& model, std::int64_t columns);
// Optimizer state of `columns` columns of one row.
[[nodiscard]] double row_state_bytes(const RecommendationModel& model, std::int64_t columns);
// Weights and optimizer state of one table of the group, or of that many of its columns.
[[nodiscard]] double table_bytes(const RecommendationModel& model, const TableGroup& group, std::int64_t columns);
// Input of the first layer of the top MLP.
[[nodiscard]] std::int64_t interaction_width(const RecommendationModel& model);

// One fully connected layer.
struct DenseLayer {
  std::string name;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  bool bias = true;
  bool activates = true;  // ReLU
  [[nodiscard]] std::int64_t parameters() const { return inputs * outputs + (bias ? outputs : 0); }
};
[[nodiscard]] std::vector<DenseLayer> bottom_layers(const RecommendationModel& model);
// The two factors of every cross layer; empty without them.
[[nodiscard]] std::vector<DenseLayer> cross_layers(const RecommendationModel& model);
[[nodiscard]] std::vector<DenseLayer> top_layers(const RecommendationModel& model);
[[nodiscard]] std::int64_t dense_parameters(const RecommendationModel& model);
// Of tables and dense layers.
[[nodiscard]] double parameter_count(const RecommendationModel& model);

}  // namespace ringwright::workload
