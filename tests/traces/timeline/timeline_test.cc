#include "traces/timeline/timeline.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <schemas/traces/timeline/perfetto.pb.h>

namespace ringwright::traces::timeline_test {
namespace {

namespace perfetto = schemas::perfetto;
using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two ranks: a kernel, an all-reduce of both on stream 1, a message from rank 0 to rank 1 without a stream.
TaskGraph example_graph() {
  TaskGraph graph;
  graph.works = {{.name = "gemm", .kernels = {}}};
  graph.collectives = {{.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB}};
  graph.messages = {{.peer = 1, .bytes = 64_KiB}, {.peer = 0, .bytes = 64_KiB}};
  graph.labels = {"forward"};
  graph.dimensions = {
      {.name = "dp", .group_of = {}, .index_in_group = {}, .groups = {{RankId(0), RankId(1)}}, .layout_of_group = {}}};
  index_groups(graph.dimensions[0], 2);
  for (const TaskKind kind : {TaskKind::kSend, TaskKind::kReceive}) {
    Program program{
        .name = kind == TaskKind::kSend ? "first" : "second", .tasks = {}, .dependencies = {}, .stream_count = 2};
    program.tasks = {{.kind = TaskKind::kCompute, .stream = 0, .detail = 0, .label = 0},
                     {.kind = TaskKind::kCollective, .stream = 1, .dimension = DimensionId(0), .detail = 0, .label = 9},
                     {.kind = kind,
                      .stream = kNoStream,
                      .dimension = DimensionId(0),
                      .detail = kind == TaskKind::kSend ? 0U : 1U,
                      .label = 9}};
    graph.program_of.push_back(ProgramId(graph.programs.size()));
    graph.programs.push_back(std::move(program));
  }
  return graph;
}

RunRecord example_record() {
  RunRecord record;
  for (const std::uint32_t rank : {0U, 1U}) {
    const auto at = [](Duration time) { return TimePoint(time); };
    record.spans.push_back({.rank_class = ClassId(rank), .task = 0, .start = at(0_us), .end = at(10_us)});
    record.spans.push_back({.rank_class = ClassId(rank), .task = 1, .start = at(10_us), .end = at(30_us)});
    record.spans.push_back({.rank_class = ClassId(rank), .task = 2, .start = at(5_us), .end = at(12_us)});
  }
  return record;
}

Timeline example() {
  return timeline_of(example_record(), example_graph(), identity_classes(2), {RankId(0), RankId(1)});
}

TEST(TraceRanks, OfRolesAreTheFirstOfEach) {
  TaskGraph graph = example_graph();
  graph.program_of = {ProgramId(0), ProgramId(0), ProgramId(1), ProgramId(0)};
  EXPECT_THAT(role_trace_ranks(graph, 8), ElementsAre(RankId(0), RankId(2)));
  EXPECT_THAT(role_trace_ranks(graph, 1), ElementsAre(RankId(0)));
}

TEST(Timeline, HasATrackForEachStreamOfEachRank) {
  const Timeline timeline = example();
  ASSERT_EQ(timeline.ranks.size(), 2u);
  EXPECT_EQ(timeline.ranks[1].role, "second");
  std::vector<std::string> tracks;
  for (const TimelineTrack& track : timeline.tracks) tracks.push_back(track.name);
  EXPECT_THAT(tracks,
              ElementsAre("compute", "messages 1: dp", "stream 1: dp", "compute", "messages 1: dp", "stream 1: dp"));
  EXPECT_EQ(timeline.slices.size(), 6u);
}

TEST(Timeline, OverlappingTasksWithoutAStreamHaveTracksOfTheirOwn) {
  RunRecord record = example_record();
  auto again = record.spans[2];
  again.start = TimePoint(6_us);
  record.spans.push_back(again);
  again.start = TimePoint(20_us);
  again.end = TimePoint(21_us);
  record.spans.push_back(again);  // the first track is free again
  const Timeline timeline = timeline_of(record, example_graph(), identity_classes(2), {RankId(0)});
  EXPECT_EQ(timeline.tracks.size(), 4u);
  std::map<std::uint32_t, TimePoint> free_from;
  for (const TimelineSlice& slice : timeline.slices) {
    EXPECT_LE(free_from[slice.track], slice.start);
    free_from[slice.track] = slice.end;
  }
}

TEST(Timeline, MembersOfACollectiveAndEndsOfAMessageShareAFlow) {
  std::map<std::uint64_t, std::vector<SliceKind>> flows;
  for (const TimelineSlice& slice : example().slices) {
    if (slice.flow != 0) flows[slice.flow].push_back(slice.kind);
  }
  ASSERT_EQ(flows.size(), 2u);
  std::vector<std::vector<SliceKind>> kinds;
  for (const auto& [flow, of_flow] : flows) kinds.push_back(of_flow);
  EXPECT_THAT(kinds, ::testing::UnorderedElementsAre(ElementsAre(SliceKind::kCollective, SliceKind::kCollective),
                                                     ElementsAre(SliceKind::kSend, SliceKind::kReceive)));
}

TEST(Timeline, CallsOfDifferentStepsDoNotShareAFlow) {
  TaskGraph graph = example_graph();
  graph.iterations = 2;
  RunRecord record = example_record();
  for (std::size_t i = 0; i < 6; ++i) {
    Span span = record.spans[i];
    span.iteration = 1;
    span.start = span.start + 100_us;
    span.end = span.end + 100_us;
    record.spans.push_back(span);
  }
  const Timeline timeline = timeline_of(record, graph, identity_classes(2), {RankId(0), RankId(1)});
  std::map<std::uint64_t, int> members;
  for (const TimelineSlice& slice : timeline.slices) {
    if (slice.flow != 0) ++members[slice.flow];
  }
  EXPECT_EQ(members.size(), 4u);
  for (const auto& [flow, count] : members) EXPECT_EQ(count, 2) << flow;
  EXPECT_EQ(count_slices(graph, {RankId(0), RankId(1)}), timeline.slices.size());
}

TEST(Timeline, RanksOfOneClassShareItsSpans) {
  RankClasses classes{.class_of = {ClassId(0), ClassId(0)}, .representative = {RankId(0)}, .size = {2}};
  RunRecord record = example_record();
  std::erase_if(record.spans, [](const Span& span) { return span.rank_class == ClassId(1); });
  TaskGraph graph = example_graph();
  graph.program_of[1] = graph.program_of[0];
  EXPECT_EQ(timeline_of(record, graph, classes, {RankId(0), RankId(1)}).slices.size(), 6u);
}

TEST(PerfettoTrace, HasEverySliceWithItsTimes) {
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(perfetto_trace(example())));
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> slices;  // by track's name
  std::map<std::uint64_t, std::uint64_t> begun;
  int processes = 0;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    for (const perfetto::EventName& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    const perfetto::TrackDescriptor& track = packet.track_descriptor();
    processes += track.has_process() ? 1 : 0;
    if (track.has_thread()) tracks[track.uuid()] = track.thread().thread_name();
    const perfetto::TrackEvent& event = packet.track_event();
    if (event.type() == perfetto::TrackEvent::SLICE_BEGIN) begun[event.track_uuid()] = packet.timestamp();
    if (event.type() == perfetto::TrackEvent::SLICE_END) {
      slices[tracks[event.track_uuid()]].emplace_back(begun[event.track_uuid()], packet.timestamp());
    }
  }
  EXPECT_EQ(processes, 2);
  EXPECT_EQ(tracks.size(), 6u);
  EXPECT_THAT(slices["compute"], ElementsAre(std::pair(0, 10'000), std::pair(0, 10'000)));  // ns
  EXPECT_THAT(slices["stream 1: dp"], ElementsAre(std::pair(10'000, 30'000), std::pair(10'000, 30'000)));
  EXPECT_EQ(slices["messages 1: dp"].size(), 2u);
  EXPECT_EQ(names[1], "forward gemm");
}

TEST(ChromeTrace, HasSlicesProcessesAndFlows) {
  const std::string text = chrome_trace(example());
  EXPECT_THAT(text, HasSubstr(R"json("process_name", "pid": 1, "tid": 0, "args": {"name": "rank 1 (second)"})json"));
  EXPECT_THAT(text, HasSubstr(R"json("dp all_reduce", "cat": "collective", "pid": 0, "tid": 3, "ts": 10.000000)json"));
  EXPECT_THAT(text, HasSubstr(R"json("dur": 20.000000, "args": {"bytes": 1048576, "step": 0})json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "s", "name": "together")json"));
  EXPECT_THAT(text, HasSubstr(R"json({"ph": "t", "name": "together")json"));
}

TEST(TraceRanks, AreRanksAndRanges) {
  EXPECT_THAT(parse_trace_ranks("0,2-4, 3", 8).value(), ElementsAre(RankId(0), RankId(2), RankId(3), RankId(4)));
  for (const char* text : {"8", "3-1", "x", "", "1,,2", "-1"}) {
    const auto ranks = parse_trace_ranks(text, 8);
    ASSERT_FALSE(ranks.has_value()) << text;
    EXPECT_THAT(render(ranks.error()), HasSubstr("error[E267]"));
  }
}

TEST(TraceRanks, AreThoseOfTheFirstReplicaWhereNoneAreNamed) {
  EXPECT_THAT(usual_trace_ranks(example_graph(), 64), ElementsAre(RankId(0)));
}

TEST(TimelineSize, IsThatOfTheViewer) {
  EXPECT_EQ(form_of_timeline("a.json"), TimelineForm::kChrome);
  EXPECT_EQ(form_of_timeline("a.pftrace"), TimelineForm::kPerfetto);
  EXPECT_FALSE(check_timeline_size(250'000, 8, TimelineForm::kChrome).has_errors());
  EXPECT_THAT(render(check_timeline_size(250'001, 8, TimelineForm::kChrome)),
              HasSubstr("error[E266]: a timeline of 8 ranks has 250001 slices; Chrome's form takes 250000"));
  EXPECT_FALSE(check_timeline_size(250'001, 8, TimelineForm::kPerfetto).has_errors());
}

}  // namespace
}  // namespace ringwright::traces::timeline_test
