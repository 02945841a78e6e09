#include "flow/ledger.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_dir.hpp"

namespace plim::flow {
namespace {

struct LedgerTest : ::testing::Test {
  testing::TempDir dir{testing::memory_directory()};
  Ledger ledger = open();

  Ledger open() const {
    auto out = Ledger::open(dir / "flow.db", system_clock());
    PLIM_ASSERT(out);
    return std::move(*out);
  }

  void SetUp() override {
    ASSERT_TRUE(ledger.begin(
        {.ex_id = "e", .status = ExecutionStatus::pending, .failure = {}, .job = {{"name", "x"}}}));
  }

  static Slice slice(std::uint64_t order) {
    return {.key = {0, order}, .id = "id", .request = R"({"n":1})", .created = WallTime(Nanos(5))};
  }
};

TEST_F(LedgerTest, remembers_an_execution_and_its_slices) {
  LedgerChanges changes;
  changes.created = {slice(1), slice(2), slice(3)};
  changes.cursors = {{.slicer = 0, .position = 7, .done = true}};
  ASSERT_TRUE(ledger.apply("e", changes));
  LedgerChanges more;
  more.started = {{.key = {0, 1}, .attempt = 1, .worker = "w"},
                  {.key = {0, 2}, .attempt = 3, .worker = "w"}};
  more.finished = {
      {.key = {0, 1}, .attempt = 1, .records_in = 10, .records_out = 4, .bytes = 99},
      {.key = {0, 2}, .attempt = 3, .outcome = Outcome::failed, .retries = 2, .error = "why"}};
  more.duplicates = 5;
  ASSERT_TRUE(ledger.apply("e", more));

  Ledger again = open();
  auto row = again.latest();
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->ex_id, "e");
  EXPECT_EQ((*row)->duplicates, 5u);
  EXPECT_EQ((*row)->job.at("name"), "x");
  auto counts = again.counts("e");
  EXPECT_EQ(counts->slices, 3u);
  EXPECT_EQ(counts->completed, 1u);
  EXPECT_EQ(counts->failed, 1u);
  EXPECT_EQ(counts->records_in, 10u);
  EXPECT_EQ(counts->redispatched, 2u);
  auto open_ones = again.open_slices("e");
  ASSERT_EQ(open_ones->size(), 1u);
  EXPECT_EQ(open_ones->at(0).key.order, 3u);
  EXPECT_EQ(open_ones->at(0).created, WallTime(Nanos(5)));
  auto failed = again.failed_slices("e", 10);
  ASSERT_EQ(failed->size(), 1u);
  EXPECT_EQ(failed->at(0).error, "why");
  EXPECT_EQ(failed->at(0).retries, 2u);
  EXPECT_EQ(*again.last_order("e", 0), 3u);
  EXPECT_EQ(again.cursors("e")->at(0).position, 7);
  ASSERT_TRUE(again.reopen_failed("e"));
  EXPECT_EQ(again.open_slices("e")->size(), 2u);
}

TEST_F(LedgerTest, the_latest_execution_is_the_last_one_started_even_if_the_clock_went_back) {
  ASSERT_TRUE(ledger.begin(
      {.ex_id = "next", .status = ExecutionStatus::pending, .failure = {}, .job = {}}));
  auto database = Database::open(dir / "flow.db");
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("UPDATE ex SET created = 1 WHERE ex_id = 'next'"));
  EXPECT_EQ((*ledger.latest())->ex_id, "next");
}

TEST_F(LedgerTest, opens_what_an_earlier_version_wrote) {
  auto database = Database::open(dir / "flow.db");
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("ALTER TABLE ex DROP COLUMN directory"));
  Ledger again = open();
  EXPECT_EQ((*again.latest())->directory, "");
  ASSERT_TRUE(again.begin({.ex_id = "f",
                           .status = ExecutionStatus::pending,
                           .failure = {},
                           .job = {},
                           .directory = "/somewhere"}));
  EXPECT_EQ((*again.latest())->directory, "/somewhere");
}

TEST_F(LedgerTest, writes_a_turn_whole_or_not_at_all) {
  LedgerChanges changes;
  changes.created = {slice(1), slice(2), slice(1)};  // the third is there already
  EXPECT_FALSE(ledger.apply("e", changes));
  EXPECT_EQ(ledger.counts("e")->slices, 0u);
  changes.created.pop_back();
  EXPECT_TRUE(ledger.apply("e", changes));
  EXPECT_EQ(ledger.counts("e")->slices, 2u);
}

TEST_F(LedgerTest, a_file_that_is_not_a_ledger_is_an_error) {
  std::ofstream(dir / "other.db") << std::string(10'000, 'x');
  auto opened = Ledger::open(dir / "other.db", system_clock());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_FALSE(Ledger::open(dir / "no/such/folder.db", system_clock()));
}

}  // namespace
}  // namespace plim::flow
