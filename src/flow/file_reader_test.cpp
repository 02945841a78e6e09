// Every record of a file is in exactly one slice, wherever the borders are.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/temp_dir.hpp"
#include "flow/gzip_file.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

using ::testing::ElementsAre;

json::object options_for(const std::string& path, std::int64_t size, std::string_view format) {
  Problems problems;
  json::object given{{"_op", "file_reader"}, {"path", path}, {"size", size}, {"format", format}};
  json::object out = check_options(find_op("file_reader")->options, given, "op", problems);
  PLIM_ASSERT(problems.errors.empty());
  return out;
}

std::vector<std::string> read_all(const json::object& options) {
  std::vector<std::string> out;
  auto slicer = make_file_slicer({.options = options, .last_operation = options});
  PLIM_ASSERT(slicer);
  auto fetcher = make_file_fetcher(options);
  PLIM_ASSERT(fetcher);
  std::uint64_t slices = 0;
  Batch batch;
  SliceContext context(system_clock());
  while (true) {
    auto request = (*slicer)->next();
    PLIM_ASSERT(request);
    if (!*request) break;
    ++slices;
    batch.clear();
    auto text = to_json(json::value(std::move(**request)));
    auto done = (*fetcher)->fetch(*parse_json(text), context, batch);
    PLIM_ASSERT(done);
    for (Record record : batch.records) out.emplace_back(record);
  }
  EXPECT_EQ((*slicer)->total_slices(), slices);
  return out;
}

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

RC_GTEST_PROP(FileReader, reads_every_line_once_for_any_slice_size, ()) {
  testing::TempDir dir(testing::memory_directory());
  const auto lines = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab{}\"")))));
  const auto size = *rc::gen::inRange<std::int64_t>(1, 40);
  const bool crlf = *rc::gen::arbitrary<bool>();
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += lines[i] +
            (i + 1 < lines.size() || *rc::gen::arbitrary<bool>() ? (crlf ? "\r\n" : "\n") : "");
  write(dir / "in", text);
  json::object options = options_for(dir / "in", size, "raw");
  if (crlf && *rc::gen::arbitrary<bool>()) options["line_delimiter"] = "\r\n";
  RC_ASSERT(read_all(options) == lines);
}

TEST(FileReader, reads_lines_far_longer_than_a_slice) {
  testing::TempDir dir;
  std::vector<std::string> lines{"short", std::string(700'000, 'x'), "", std::string(200'000, 'y'),
                                 "end"};
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  std::erase(lines, "");
  write(dir / "in", text);
  for (std::int64_t size : {1000, 65'536, 699'999, 2'000'000})
    EXPECT_EQ(read_all(options_for(dir / "in", size, "raw")), lines) << size;
}

TEST(FileReader, reads_the_files_of_a_folder_in_order_and_skips_empty_ones) {
  testing::TempDir dir;
  std::filesystem::create_directory(dir / "sub");
  write(dir / "b", "3\n4");
  write(dir / "a", "1\n2\n");
  write(dir / "empty", "");
  write(dir / "sub/z", "5\n");
  EXPECT_THAT(read_all(options_for(dir.path(), 2, "raw")), ElementsAre("1", "2", "3", "4", "5"));
}

TEST(FileReader, reads_columns_as_objects_with_the_names_of_the_first_line) {
  testing::TempDir dir;
  write(dir / "in.csv", "id,name,note\r\n1,\"a, \"\"b\"\"\",\r\n2,c,d\r\n");
  for (std::int64_t size : {5, 11, 100})
    EXPECT_THAT(
        read_all(options_for(dir / "in.csv", size, "csv")),
        ElementsAre(R"({"id":"1","name":"a, \"b\""})", R"({"id":"2","name":"c","note":"d"})"))
        << size;
}

TEST(FileReader, the_header_is_the_first_line_even_an_empty_one) {
  testing::TempDir dir;
  write(dir / "in.csv", "\n1,2\n");
  for (std::int64_t size : {2, 100}) {
    json::object options = options_for(dir / "in.csv", size, "csv");
    EXPECT_THAT(read_all(options), ElementsAre(R"({"":"1","column2":"2"})")) << size;
  }
}

TEST(FileReader, takes_a_job_s_own_names_and_a_file_without_header) {
  testing::TempDir dir;
  write(dir / "in.tsv", "1\t2\t3\n");
  json::object options = options_for(dir / "in.tsv", 100, "tsv");
  options["fields"] = json::array{"a", "b"};
  options["remove_header"] = false;
  EXPECT_THAT(read_all(options), ElementsAre(R"({"a":"1","b":"2","column3":"3"})"));
}

TEST(FileReader, a_byte_order_mark_belongs_to_no_record) {
  testing::TempDir dir;
  write(dir / "in.csv", "\xef\xbb\xbfx,y\n1,2\n3,4\n");
  for (std::int64_t size : {1, 6, 100})
    EXPECT_THAT(read_all(options_for(dir / "in.csv", size, "csv")),
                ElementsAre(R"({"x":"1","y":"2"})", R"({"x":"3","y":"4"})"))
        << size;
  write(dir / "in", "\xef\xbb\xbf{}\n");
  EXPECT_THAT(read_all(options_for(dir / "in", 100, "ldjson")), ElementsAre("{}"));
}

TEST(FileReader, reads_gzip_of_several_members_as_one_text) {
  testing::TempDir dir;
  std::string packed;
  ASSERT_TRUE(gzip_into(packed, "1\n2"));
  ASSERT_TRUE(gzip_into(packed, "2\n3\n"));
  write(dir / "in.gz", packed);
  json::object options = options_for(dir / "in.gz", 1, "raw");
  options["compression"] = "gzip";
  EXPECT_THAT(read_all(options), ElementsAre("1", "22", "3"));
}

TEST(FileReader, rejects_truncated_gzip_and_other_data) {
  std::string packed;
  ASSERT_TRUE(gzip_into(packed, std::string(100'000, 'x')));
  Arena arena;
  EXPECT_FALSE(gunzip_into(arena, std::string_view(packed).substr(0, packed.size() / 2), 1 << 20));
  EXPECT_FALSE(gunzip_into(arena, "no gzip at all", 1 << 20));
  EXPECT_EQ(gunzip_into(arena, packed, 1000).error().code, Code::too_large);
  EXPECT_EQ(gunzip_into(arena, packed, 1 << 20)->size(), 100'000u);
}

TEST(FileReader, continues_after_the_cursor) {
  testing::TempDir dir;
  write(dir / "a", "1\n2\n3\n4\n");
  json::object options = options_for(dir.path(), 4, "raw");
  ReaderSetup setup{.options = options, .last_operation = options};
  auto first = make_file_slicer(setup), second = make_file_slicer(setup);
  auto stored = [&] { return *parse_json(to_json((*first)->cursor())); };
  ASSERT_TRUE((*first)->next()->has_value());
  ASSERT_TRUE((*second)->restore(stored()));
  EXPECT_EQ(to_json((*second)->next()->value()), to_json((*first)->next()->value()));
  ASSERT_TRUE((*second)->restore(stored()));
  EXPECT_FALSE((*second)->next()->has_value());
}

TEST(FileReader, reads_an_array_as_its_elements) {
  testing::TempDir dir;
  write(dir / "in.json", R"([{"a": 1}, 2])");
  EXPECT_THAT(read_all(options_for(dir / "in.json", 3, "json")), ElementsAre(R"({"a":1})", "2"));
}

}  // namespace
}  // namespace plim::flow
