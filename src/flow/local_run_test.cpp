// Whole runs with threads as workers. Runs with processes, and tests that kill them, are in
// tests/e2e/flow.
#include "flow/local_run.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::flow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

Job job_of(std::string_view text) {
  auto value = parse_json(text);
  PLIM_ASSERT(value);
  CheckedJob checked = check_job(*value, 2);
  EXPECT_THAT(checked.problems.errors, ::testing::IsEmpty());
  return std::move(*checked.job);
}

struct LocalRunTest : ::testing::Test {
  testing::TempDir dir{testing::memory_directory()};
  std::string printed;
  std::vector<std::string> notices;
  std::uint64_t stop_after = 0;  // slices; 0: to the end
  std::function<void(const RunProgress&)> look = [](const RunProgress&) {};  // after every turn

  Result<RunProgress> finish(LocalRun run, std::optional<std::uint64_t> limit = {}) {
    Loop loop;
    std::unique_ptr<Controller> controller;
    Observer observer;
    observer.print = [&](std::string_view text) { printed += text; };
    observer.notice = [&](const std::string& text) { notices.push_back(text); };
    observer.progress = [&](const RunProgress& progress) {
      if (stop_after > 0 && progress.slices_done >= stop_after) controller->stop();
      look(progress);
    };
    ControllerSettings settings;
    settings.crew = {.workers = 2, .threads = true, .program = ""};
    controller = run.controller(loop.executor(), settings, limit, observer);
    return run_to_end(loop, controller->run());
  }

  // The ledger refuses to set a slice to this state until the first retry. What happens meanwhile?
  void refuse(std::string_view state, std::uint64_t& done, std::string& shown) {
    auto begun = LocalRun::begin(system_clock(), dir / "state", job_of(R"({"operations":[
        {"_op":"data_generator","size":50,"slice_size":1,"shape":"small"},{"_op":"stdout"}]})"));
    ASSERT_TRUE(begun);
    auto database = Database::open(dir / "state/flow.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute(fmt::format("CREATE TRIGGER full BEFORE UPDATE ON slices WHEN "
                                      "new.state='{}' BEGIN SELECT RAISE(ABORT, 'full'); "
                                      "END",
                                      state)));
    std::optional<SteadyTime> since;
    bool has_room = false;
    look = [&](const RunProgress& progress) {
      if (has_room || notices.empty()) return;
      const SteadyTime now = system_clock().steady();
      if (!since) since = now;
      done = progress.slices_done;
      shown = printed;
      if (now - *since < std::chrono::seconds(1)) return;
      has_room = true;
      EXPECT_TRUE(database->execute("DROP TRIGGER full"));
    };
    auto out = finish(std::move(*begun));
    look = [](const RunProgress&) {};
    ASSERT_TRUE(out);
    EXPECT_TRUE(has_room);
    EXPECT_THAT(notices, ElementsAre(HasSubstr("waiting for storage"), "storage is back"));
    EXPECT_EQ(out->slices_done, 50u);
    EXPECT_EQ(std::ranges::count(printed, '\n'), 50);
  }

  RunProgress run(std::string_view text, std::optional<std::uint64_t> limit = {}) {
    auto begun = LocalRun::begin(system_clock(), dir / "state", job_of(text));
    PLIM_ASSERT(begun);
    auto out = finish(std::move(*begun), limit);
    EXPECT_TRUE(out) << (out ? "" : out.error().message);
    return out.value_or(RunProgress());
  }

  RunProgress resume() {
    auto resumed = LocalRun::resume(system_clock(), dir / "state");
    PLIM_ASSERT(resumed);
    auto out = finish(std::move(*resumed));
    EXPECT_TRUE(out);
    return out.value_or(RunProgress());
  }
};

TEST_F(LocalRunTest, generates_and_counts) {
  RunProgress last = run(R"({"operations":[{"_op":"data_generator","size":10001,"slice_size":100},
    {"_op":"noop"}]})");
  EXPECT_EQ(last.status, ExecutionStatus::completed);
  EXPECT_EQ(last.records_in, 10001u);
  EXPECT_EQ(last.slices_done, 101u);
  EXPECT_EQ(last.slices_total, 101u);
  EXPECT_GT(last.worker_rss, 0u);
}

TEST_F(LocalRunTest, several_slicers_share_the_range) {
  RunProgress last = run(R"({"slicers":3,"operations":[
    {"_op":"data_generator","size":1000,"slice_size":7,"shape":"small"},{"_op":"stdout"}]})");
  EXPECT_EQ(last.records_in, 1000u);
  std::set<std::string> lines;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  EXPECT_EQ(lines.size(), 1000u);
}

TEST_F(LocalRunTest, filters_a_file_into_files) {
  std::ofstream in(dir / "in");
  for (int i = 0; i < 1000; ++i) in << R"({"id":)" << i << "}\n";
  in.close();
  RunProgress last = run(fmt::format(R"({{"operations":[
      {{"_op":"file_reader","path":"{0}/in","size":500}},
      {{"_op":"filter","field":"id","value":900,"filter_by":"lt"}},
      {{"_op":"file_exporter","path":"{0}/out","idempotent":true}}]}})",
                                     dir.path()));
  EXPECT_EQ(last.records_out, 100u);
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(dir / "out"))
    names.push_back(file.path().string());
  std::ranges::sort(names);
  std::string text;
  for (const std::string& name : names) text += *read_file(name);
  std::string want;
  for (int i = 900; i < 1000; ++i) want += fmt::format("{{\"id\":{}}}\n", i);
  EXPECT_EQ(text, want);
}

TEST_F(LocalRunTest, failed_slices_are_counted_and_only_they_run_again) {
  fs::create_directory(dir / "flag");
  const std::string job = fmt::format(R"({{"max_retries":1,"operations":[
      {{"_op":"data_generator","size":200,"slice_size":1,"shape":"small"}},
      {{"_op":"exec","framing":"none","command":"sh","args":["-c",
        "read l; case $l in *0,*) test -e {0}/flag && {{ echo boom >&2; exit 2; }};; esac; echo $l"]}},
      {{"_op":"noop"}}]}})",
                                      dir.path());
  RunProgress first = run(job);
  EXPECT_EQ(first.status, ExecutionStatus::failed);
  EXPECT_EQ(first.slices_done, 200u);
  EXPECT_EQ(first.failed, 20u);
  EXPECT_THAT(notices.back(), HasSubstr("had 20 slice failures during processing"));
  auto ledger = Ledger::open(dir / "state/flow.db", system_clock());
  ASSERT_TRUE(ledger);
  auto row = ledger->latest();
  EXPECT_EQ((*row)->status, ExecutionStatus::failed);
  auto failed = ledger->failed_slices((*row)->ex_id, 100);
  ASSERT_EQ(failed->size(), 20u);
  for (const FailedSlice& one : *failed) EXPECT_EQ(one.retries, 1u);
  fs::remove(dir / "flag");
  RunProgress second = resume();
  EXPECT_EQ(second.status, ExecutionStatus::completed);
  EXPECT_EQ(second.slices_done, 200u);
  EXPECT_EQ(second.redispatched, 20u);
}

TEST_F(LocalRunTest, a_stopped_run_continues_where_it_was) {
  stop_after = 10;
  RunProgress first = run(R"({"operations":[
    {"_op":"data_generator","size":5000,"slice_size":1,"shape":"small"},{"_op":"stdout"}]})");
  EXPECT_EQ(first.status, ExecutionStatus::stopped);
  EXPECT_LT(first.slices_done, 5000u);
  stop_after = 0;
  RunProgress second = resume();
  EXPECT_EQ(second.status, ExecutionStatus::completed);
  EXPECT_EQ(second.records_in, 5000u);
  EXPECT_EQ(std::ranges::count(printed, '\n'), 5000);
}

TEST_F(LocalRunTest, what_failed_before_a_crash_runs_again_at_the_first_resume) {
  fs::create_directory(dir / "flag");
  stop_after = 3;
  RunProgress first = run(fmt::format(R"({{"max_retries":0,"operations":[
      {{"_op":"data_generator","size":50,"slice_size":1,"shape":"small"}},
      {{"_op":"exec","framing":"none","command":"sh","args":["-c",
        "test -e {0}/flag && exit 2; cat"]}},
      {{"_op":"noop"}}]}})",
                                      dir.path()));
  EXPECT_GE(first.failed, 3u);
  auto database = Database::open(dir / "state/flow.db");
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("UPDATE ex SET status='failing'"));  // as a crash leaves it
  fs::remove(dir / "flag");
  stop_after = 0;
  RunProgress second = resume();
  EXPECT_EQ(second.status, ExecutionStatus::completed);
  EXPECT_EQ(second.records_in, 50u);
}

TEST_F(LocalRunTest, a_limit_ends_the_run_early) {
  RunProgress last = run(R"({"operations":[{"_op":"data_generator","size":5000,"slice_size":1},
    {"_op":"noop"}]})",
                         7);
  EXPECT_EQ(last.status, ExecutionStatus::completed);
  EXPECT_EQ(last.slices_done, 7u);
}

TEST_F(LocalRunTest, a_job_without_its_input_leaves_nothing_behind) {
  auto begun = LocalRun::begin(system_clock(), dir / "state", job_of(R"({"operations":[
    {"_op":"file_reader","path":"/nowhere"},{"_op":"noop"}]})"));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().message, "file_reader: /nowhere does not exist");
  EXPECT_FALSE(fs::exists(dir / "state"));
}

TEST_F(LocalRunTest, a_slice_that_is_not_in_the_ledger_is_not_handed_out) {
  std::uint64_t done = 1;
  std::string shown;
  refuse("start", done, shown);
  EXPECT_EQ(done, 0u);
}

TEST_F(LocalRunTest, a_result_that_is_not_in_the_ledger_is_not_shown) {
  std::uint64_t done = 0;
  std::string shown = "unknown";
  refuse("completed", done, shown);
  EXPECT_GE(done, 1u);
  EXPECT_EQ(shown, "");
}

TEST_F(LocalRunTest, a_directory_has_one_run_at_a_time) {
  auto first = LocalRun::begin(system_clock(), dir / "state",
                               job_of(R"({"operations":[{"_op":"data_generator"},
    {"_op":"noop"}]})"));
  ASSERT_TRUE(first);
  auto second = LocalRun::resume(system_clock(), dir / "state");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::already_exists);
  EXPECT_EQ(LocalRun::resume(system_clock(), dir / "nothing").error().code, Code::not_found);
}

}  // namespace
}  // namespace plim::flow
