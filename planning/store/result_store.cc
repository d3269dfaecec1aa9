#include "planning/store/result_store.h"

#include <filesystem>
#include <utility>

#include <sqlite3.h>

#include <fmt/format.h>

#include "core/base/source_hash.h"

namespace ringwright::planning {
namespace {

constexpr int kApplication = 0x72776774;  // "rwgt", in the header of the file
constexpr int kFormat = 1;
constexpr int kPatienceMilliseconds = 60'000;  // for other processes that write into the same file

constexpr const char* kTables =
    "BEGIN;"
    "CREATE TABLE IF NOT EXISTS points(fingerprint TEXT, version TEXT, status TEXT, code TEXT, reason TEXT,"
    " step_ps INTEGER, tokens_per_s_per_gpu REAL, mfu REAL, gpus INTEGER, tokens_per_step INTEGER,"
    " memory_bytes INTEGER, memory_capacity_bytes INTEGER, usd_per_step REAL, usd_per_1e12_tokens REAL,"
    " joules_per_step REAL, joules_per_token REAL, PRIMARY KEY(fingerprint, version)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS parts(fingerprint TEXT, version TEXT, position INTEGER, cause TEXT, ps INTEGER,"
    " PRIMARY KEY(fingerprint, version, position)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS sweep_points(sweep TEXT, position INTEGER, \"values\" TEXT, fingerprint TEXT,"
    " version TEXT, PRIMARY KEY(sweep, position)) WITHOUT ROWID;"
    "COMMIT;";

// A prepared statement; the first failure stays.
class Statement {
 public:
  Statement(sqlite3* database, const char* text) {
    good_ = sqlite3_prepare_v2(database, text, -1, &statement_, nullptr) == SQLITE_OK;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& with(const std::string& text) {
    return note(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  Statement& with(std::int64_t number) { return note(sqlite3_bind_int64(statement_, ++bound_, number)); }
  Statement& with(double number) { return note(sqlite3_bind_double(statement_, ++bound_, number)); }
  Statement& with(const std::optional<double>& number) {
    return number ? with(*number) : note(sqlite3_bind_null(statement_, ++bound_));
  }
  [[nodiscard]] bool row() {
    if (!good_) return false;
    const int result = sqlite3_step(statement_);
    good_ = result == SQLITE_ROW || result == SQLITE_DONE;
    return result == SQLITE_ROW;
  }
  // For statements without rows; may be called again with other values.
  [[nodiscard]] bool done() {
    const bool rows = row();
    const bool done = good_ && !rows;
    sqlite3_reset(statement_);
    bound_ = 0;
    return done;
  }
  [[nodiscard]] bool is_good() const { return good_; }

  [[nodiscard]] std::string text(int column) const {
    const unsigned char* data = sqlite3_column_text(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string() : std::string(data, data + size);
  }
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double number(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::optional<double> maybe(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    return number(column);
  }

 private:
  Statement& note(int result) {
    good_ = good_ && result == SQLITE_OK;
    return *this;
  }

  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  bool good_ = false;
};

const std::string& version() {
  static const std::string kVersion = fmt::format("{}-{}", RINGWRIGHT_VERSION, source_hash());
  return kVersion;
}

Point point_in(const std::string& fingerprint, const Statement& row) {
  Point point{.fingerprint = fingerprint, .code = row.text(1), .reason = row.text(2)};
  point.status = status_named(row.text(0)).value_or(PointStatus::kRefused);
  StepFigures& figures = point.figures;
  figures.step = Duration(row.integer(3));
  figures.tokens_per_second_per_gpu = row.number(4);
  figures.model_flop_utilisation = row.maybe(5);
  figures.gpus = row.integer(6);
  figures.tokens_per_step = row.integer(7);
  figures.memory = Bytes(row.integer(8));
  figures.memory_capacity = Bytes(row.integer(9));
  figures.cost = {.usd = row.maybe(10),
                  .usd_per_tera_tokens = row.maybe(11),
                  .joules = row.maybe(12),
                  .joules_per_token = row.maybe(13)};
  return point;
}

bool insert_point(sqlite3* database, const Point& point) {
  const StepFigures& figures = point.figures;
  Statement insert(database, "INSERT OR IGNORE INTO points VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.with(point.fingerprint).with(version()).with(std::string(to_string(point.status)));
  insert.with(point.code).with(point.reason).with(figures.step.count()).with(figures.tokens_per_second_per_gpu);
  insert.with(figures.model_flop_utilisation).with(figures.gpus).with(figures.tokens_per_step);
  insert.with(figures.memory.count()).with(figures.memory_capacity.count()).with(figures.cost.usd);
  insert.with(figures.cost.usd_per_tera_tokens).with(figures.cost.joules).with(figures.cost.joules_per_token);
  if (!insert.done()) return false;
  Statement part(database, "INSERT OR IGNORE INTO parts VALUES(?,?,?,?,?)");
  std::int64_t position = 0;
  for (const StepPart& entry : figures.parts) {
    part.with(point.fingerprint).with(version()).with(position++).with(entry.cause).with(entry.time.count());
    if (!part.done()) return false;
  }
  return true;
}

bool insert_entries(sqlite3* database, const std::string& sweep, const std::vector<SweepEntry>& entries) {
  Statement remove(database, "DELETE FROM sweep_points WHERE sweep = ?");
  if (!remove.with(sweep).done()) return false;
  Statement insert(database, "INSERT INTO sweep_points VALUES(?,?,?,?,?)");
  for (const SweepEntry& entry : entries) {
    insert.with(sweep).with(static_cast<std::int64_t>(entry.index)).with(entry.values).with(entry.fingerprint);
    if (!insert.with(version()).done()) return false;
  }
  return true;
}

Diagnostics store_failure(const std::string& path, const std::string& why) {
  return failure("E310", fmt::format("cannot use the database '{}': {}", path, why), {},
                 "name a file that a sweep wrote, or one that does not exist yet");
}

}  // namespace

void ResultStore::Closer::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

ResultStore::ResultStore(std::string path) : path_(std::move(path)) {}

Diagnostics ResultStore::problem() const {
  return store_failure(path_, database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_.get()));
}

Diagnostics ResultStore::run(const char* statements) {
  const bool good = sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) == SQLITE_OK;
  return good ? Diagnostics() : problem();
}

// A database of another program stays as it is; triggers and views of a prepared file would run with our statements.
Diagnostics ResultStore::check_content(const char* schema) {
  Statement application(database_.get(), fmt::format("PRAGMA {}.application_id", schema).c_str());
  const bool has_id = application.row();
  if (!application.is_good()) return problem();
  if (has_id && application.integer(0) != kApplication) return store_failure(path_, "another program wrote it");
  Statement format(database_.get(), fmt::format("PRAGMA {}.user_version", schema).c_str());
  if (format.row() && format.integer(0) != kFormat) {
    return store_failure(path_, fmt::format("its format is {}, and this version reads {}", format.integer(0), kFormat));
  }
  const std::string query =
      fmt::format("SELECT count(*) FROM {}.sqlite_master WHERE type NOT IN ('table', 'index')", schema);
  Statement objects(database_.get(), query.c_str());
  if (!objects.row()) return problem();
  return objects.integer(0) == 0 ? Diagnostics() : store_failure(path_, "it holds views or triggers");
}

Result<ResultStore> ResultStore::open(const std::string& path) {
  ResultStore store(path);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  const bool is_new = !std::filesystem::exists(path, ignored) || std::filesystem::file_size(path, ignored) == 0;
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &database,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  store.database_.reset(database);
  if (opened != SQLITE_OK) return tl::unexpected(store.problem());
  sqlite3_busy_timeout(database, kPatienceMilliseconds);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (is_new) {
    const std::string mark = fmt::format("PRAGMA application_id={};PRAGMA user_version={}", kApplication, kFormat);
    if (Diagnostics wrong = store.run(mark.c_str()); wrong.has_errors()) return tl::unexpected(std::move(wrong));
  }
  Diagnostics wrong = store.check_content("main");
  if (!wrong.has_errors()) wrong = store.run("PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL");
  if (!wrong.has_errors()) wrong = store.run(kTables);
  if (wrong.has_errors()) return tl::unexpected(std::move(wrong));
  return store;
}

Result<std::optional<Point>> ResultStore::find(const std::string& fingerprint) {
  Statement select(database_.get(),
                   "SELECT status, code, reason, step_ps, tokens_per_s_per_gpu, mfu, gpus, tokens_per_step,"
                   " memory_bytes, memory_capacity_bytes, usd_per_step, usd_per_1e12_tokens, joules_per_step,"
                   " joules_per_token FROM points WHERE fingerprint = ? AND version = ?");
  select.with(fingerprint).with(version());
  if (!select.row()) {
    if (!select.is_good()) return tl::unexpected(problem());
    return std::nullopt;
  }
  Point point = point_in(fingerprint, select);
  Statement parts(database_.get(),
                  "SELECT cause, ps FROM parts WHERE fingerprint = ? AND version = ? ORDER BY position");
  parts.with(fingerprint).with(version());
  while (parts.row()) point.figures.parts.push_back({.cause = parts.text(0), .time = Duration(parts.integer(1))});
  if (!parts.is_good()) return tl::unexpected(problem());
  return point;
}

Diagnostics ResultStore::put(const Point& point) {
  if (Diagnostics wrong = run("BEGIN IMMEDIATE"); wrong.has_errors()) return wrong;
  if (insert_point(database_.get(), point)) return run("COMMIT");
  Diagnostics wrong = problem();
  static_cast<void>(run("ROLLBACK"));
  return wrong;
}

Diagnostics ResultStore::put_sweep(const std::string& sweep, const std::vector<SweepEntry>& entries) {
  if (Diagnostics wrong = run("BEGIN IMMEDIATE"); wrong.has_errors()) return wrong;
  if (insert_entries(database_.get(), sweep, entries)) return run("COMMIT");
  Diagnostics wrong = problem();
  static_cast<void>(run("ROLLBACK"));
  return wrong;
}

Diagnostics ResultStore::merge(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return store_failure(path, "no such file");
  Statement attach(database_.get(), "ATTACH DATABASE ? AS other");
  if (!attach.with(path).done()) return store_failure(path, sqlite3_errmsg(database_.get()));
  Diagnostics wrong = check_content("other");
  if (!wrong.has_errors()) {
    wrong =
        run("BEGIN IMMEDIATE;"
            "INSERT OR IGNORE INTO main.points SELECT * FROM other.points;"
            "INSERT OR IGNORE INTO main.parts SELECT * FROM other.parts;"
            "COMMIT");
    if (wrong.has_errors()) static_cast<void>(run("ROLLBACK"));
  }
  static_cast<void>(run("DETACH DATABASE other"));
  return wrong.has_errors() ? store_failure(path, wrong.all().front().message) : wrong;
}

Diagnostics ResultStore::unused() {
  Statement select(database_.get(),
                   "SELECT version, count(*) FROM points WHERE version <> ? GROUP BY version ORDER BY version");
  select.with(version());
  Diagnostics warnings;
  while (select.row()) {
    warnings.add(
        {.severity = Severity::kWarning,
         .code = "W310",
         .message = fmt::format("'{}' also holds points of version {} ({}), which version {} does not use", path_,
                                select.text(0), select.integer(1), version())});
  }
  return select.is_good() ? warnings : problem();
}

Result<std::size_t> ResultStore::size() {
  Statement count(database_.get(), "SELECT count(*) FROM points");
  if (!count.row()) return tl::unexpected(problem());
  return static_cast<std::size_t>(count.integer(0));
}

}  // namespace ringwright::planning
