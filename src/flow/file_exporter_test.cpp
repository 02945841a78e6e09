#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/resource.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/process.hpp"
#include "base/testing/temp_dir.hpp"
#include "flow/batch.hpp"
#include "flow/gzip_file.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

using Records = std::vector<std::string>;

struct FileExporterTest : ::testing::Test {
  testing::TempDir dir;

  Problems problems_of(std::string_view more) const {
    Problems problems;
    options(more, problems);
    return problems;
  }

  json::object options(std::string_view more, Problems& problems) const {
    auto given =
        parse_json(fmt::format(R"({{"_op":"file_exporter","path":"{}/out"{}}})", dir.path(), more));
    PLIM_ASSERT(given);
    const OpEntry* entry = find_op("file_exporter");
    json::object out = check_options(entry->options, given->as_object(), "op", problems);
    if (problems.errors.empty()) entry->check(out, "op", problems);
    return out;
  }

  std::unique_ptr<Operation> make(std::string_view more) const {
    Problems problems;
    auto made = make_file_exporter(options(more, problems));
    EXPECT_THAT(problems.errors, IsEmpty());
    PLIM_ASSERT(made);
    return std::move(*made);
  }

  static SliceContext slice(std::uint64_t order) {
    SliceContext out(system_clock());
    out.ex_id = "ex";
    out.worker_id = "w";
    out.slicer_order = order;
    return out;
  }

  static Result<void> write(Operation& exporter, std::uint64_t order, const Records& records) {
    Batch batch;
    for (const std::string& record : records) batch.records.push_back(batch.arena.copy(record));
    SliceContext context = slice(order);
    PLIM_CHECK(exporter.process(context, batch));
    return exporter.commit(context);
  }

  // All files of the folder by name: "name: content".
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (!fs::exists(dir / "out")) return out;
    for (const auto& file : fs::directory_iterator(dir / "out"))
      out.push_back(fmt::format("{}: {}", file.path().filename().string(),
                                read_file(file.path().string()).value_or("?")));
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(FileExporterTest, a_file_of_a_slice_has_its_name_only_when_it_is_whole) {
  auto exporter = make(R"(,"idempotent":true)");
  Batch batch;
  batch.records.push_back(batch.arena.copy("{}"));
  SliceContext context = slice(7);
  ASSERT_TRUE(exporter->process(context, batch));
  EXPECT_THAT(files(), ElementsAre("ex.0.00000007.ldjson.tmp-1: {}\n"));
  ASSERT_TRUE(exporter->commit(context));
  EXPECT_THAT(files(), ElementsAre("ex.0.00000007.ldjson: {}\n"));
  // A later attempt in another worker, and one that is abandoned.
  auto other = make(R"(,"idempotent":true)");
  ASSERT_TRUE(write(*other, 7, {"{}"}));
  ASSERT_TRUE(other->process(context, batch));
  other->abandon();
  EXPECT_THAT(files(), ElementsAre("ex.0.00000007.ldjson: {}\n"));
}

TEST_F(FileExporterTest, columns_without_names_are_those_of_the_slice_in_any_worker) {
  const Records first{R"({"a":1})"}, second{R"({"b":2,"x.y":"p,q"})", R"({"a":3,"b":null})"};
  auto one = make(R"(,"idempotent":true,"format":"csv","include_header":true)");
  ASSERT_TRUE(write(*one, 1, first));
  ASSERT_TRUE(write(*one, 2, second));
  auto both = files();
  EXPECT_THAT(both, ElementsAre("ex.0.00000001.csv: a\n1\n",
                                "ex.0.00000002.csv: b,x.y,a\n2,\"p,q\",\n,,3\n"));
  auto fresh = make(R"(,"idempotent":true,"format":"csv","include_header":true)");
  ASSERT_TRUE(write(*fresh, 2, second));
  EXPECT_EQ(files(), both);
}

TEST_F(FileExporterTest, a_file_that_grows_has_its_header_once) {
  auto exporter = make(R"(,"format":"tsv","fields":["a","b"],"include_header":true)");
  ASSERT_TRUE(write(*exporter, 1, {R"({"a":1,"b":"x"})"}));
  ASSERT_TRUE(write(*exporter, 2, {}));
  ASSERT_TRUE(write(*exporter, 3, {R"({"b":2})"}));
  EXPECT_THAT(files(), ElementsAre("w.tsv: a\tb\n1\tx\n\t2\n"));
}

TEST_F(FileExporterTest, gzip_files_that_grow_are_readable_as_one) {
  auto exporter =
      make(R"(,"format":"csv","fields":["a"],"include_header":true,"compression":"gzip")");
  ASSERT_TRUE(write(*exporter, 1, {R"({"a":1})"}));
  ASSERT_TRUE(write(*exporter, 2, {R"({"a":2})"}));
  Arena arena;
  EXPECT_EQ(*gunzip_into(arena, *read_file(dir / "out/w.csv.gz"), 1000), "a\n1\n2\n");
}

TEST_F(FileExporterTest, a_slice_that_does_not_fit_is_removed_completely) {
  prepare_process();
  auto grows = make(""), whole = make(R"(,"idempotent":true,"extension":"x")");
  ASSERT_TRUE(write(*grows, 1, {"{}"}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const Records large{"{\"a\":\"" + std::string(200, 'x') + "\"}"};
  auto first = write(*grows, 2, large), second = write(*whole, 3, large);
  whole->abandon();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(first || second);
  EXPECT_THAT(first.error().message, HasSubstr("cannot write"));
  EXPECT_THAT(files(), ElementsAre("w.ldjson: {}\n"));
}

TEST_F(FileExporterTest, says_what_is_wrong_and_takes_the_old_name_of_its_folder) {
  EXPECT_THAT(
      problems_of(R"(,"extension":"../x","field_delimiter":"||")").errors,
      ElementsAre("op.field_delimiter: must be one byte", "op.extension: must not have a /"));
  EXPECT_THAT(problems_of(R"(,"format":"csv")").warnings,
              ElementsAre("op.fields: not given; each file has the columns of its first record"));
  EXPECT_THAT(problems_of(R"(,"format":"csv","idempotent":true)").warnings, IsEmpty());
  const OpEntry* old = find_op("save_file");
  ASSERT_NE(old, nullptr);
  Problems problems;
  json::object options = check_options(old->options, {{"file_path", "x"}}, "op", problems);
  EXPECT_THAT(problems.errors, IsEmpty());
  EXPECT_THAT(problems.warnings, IsEmpty());
  EXPECT_EQ(options.at("path"), "x");
}

}  // namespace
}  // namespace plim::flow
