#include "base/record_file.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plim {
namespace {

constexpr std::uint32_t kKind = record_kind("TEST");
constexpr RecordExpectation kExpected{.kind = kKind, .version = 1};

// A file as a journal writes it: each inner list is one write, acknowledged before the next one.
struct Sample {
  RecordFile file = RecordFile::make(kKind, 1, 7);
  std::string bytes = encode_header(file);
  std::vector<std::string> records;
  std::vector<std::size_t> ends;      // of each record
  std::size_t last_write = 0;         // where it begins
  std::size_t records_before_it = 0;  // acknowledged records

  void write(const std::vector<std::string>& batch) {
    last_write = bytes.size();
    records_before_it = records.size();
    for (const std::string& record : batch) {
      encode_record(bytes, file, bytes.size(), last_write, record);
      records.push_back(record);
      ends.push_back(bytes.size());
    }
  }
};

Sample make_sample() {
  Sample sample;
  sample.write({"first"});
  sample.write({"second", "", "a longer third record of several words"});
  sample.write({"fourth"});
  sample.write({"fifth", "the sixth", std::string(30, '\0')});
  return sample;
}

struct Read {
  RecordScan scan;
  std::vector<std::string> records;
};

Read read(std::string_view bytes) {
  Read out;
  auto scan = scan_records(bytes, kExpected, [&](std::uint64_t, std::string_view record) {
    out.records.emplace_back(record);
    return Result<void>();
  });
  EXPECT_TRUE(scan) << scan.error().message;
  out.scan = std::move(*scan);
  return out;
}

bool is_prefix(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST(RecordFile, reads_what_was_written) {
  const Sample sample = make_sample();
  const Read got = read(sample.bytes);
  EXPECT_EQ(got.records, sample.records);
  EXPECT_EQ(got.scan.ending, Ending::clean);
  EXPECT_EQ(got.scan.end, sample.bytes.size());
  EXPECT_EQ(got.scan.file.number, 7u);
  EXPECT_EQ(got.scan.file.salt, sample.file.salt);
}

TEST(RecordFile, cut_at_any_byte_keeps_all_whole_records) {
  const Sample sample = make_sample();
  for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
    const Read got = read(std::string_view(sample.bytes).substr(0, size));
    std::size_t whole = 0;
    while (whole < sample.ends.size() && sample.ends[whole] <= size) ++whole;
    ASSERT_EQ(got.records.size(), whole) << size;
    ASSERT_TRUE(is_prefix(got.records, sample.records)) << size;
    const bool at_a_record =
        size == kRecordFileHeader || (whole > 0 && sample.ends[whole - 1] == size);
    ASSERT_EQ(got.scan.ending, at_a_record ? Ending::clean : Ending::torn) << size;
  }
}

TEST(RecordFile, any_flipped_bit_is_torn_in_the_last_write_and_damage_before_it) {
  const Sample sample = make_sample();
  for (std::size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
    std::string bytes = sample.bytes;
    const std::size_t at = bit / 8;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (bit % 8)));
    const Read got = read(bytes);
    ASSERT_TRUE(is_prefix(got.records, sample.records)) << at;
    ASSERT_LT(got.records.size(), sample.records.size()) << at;
    if (at < sample.last_write) {
      ASSERT_EQ(got.scan.ending, Ending::damaged) << at;
      ASSERT_LE(got.scan.end, at);
    } else {
      ASSERT_EQ(got.scan.ending, Ending::torn) << at;
      ASSERT_GE(got.records.size(), sample.records_before_it) << at;
    }
  }
}

TEST(RecordFile, damage_is_found_although_the_last_record_is_cut_too) {
  const Sample sample = make_sample();
  std::string bytes = sample.bytes.substr(0, sample.bytes.size() - 3);
  bytes[kRecordFileHeader + 2] = static_cast<char>(bytes[kRecordFileHeader + 2] ^ 1);
  EXPECT_EQ(read(bytes).scan.ending, Ending::damaged);
}

TEST(RecordFile, zeros_at_the_end_are_torn) {
  Sample sample = make_sample();
  const Read got = read(sample.bytes + std::string(5000, '\0'));
  EXPECT_EQ(got.records, sample.records);
  EXPECT_EQ(got.scan.ending, Ending::torn);
  EXPECT_EQ(got.scan.end, sample.bytes.size());
}

TEST(RecordFile, records_inside_a_torn_value_do_not_count_as_records) {
  // A user stores a piece of a log as a value, and the write of that value is cut short.
  const Sample other = make_sample();
  Sample sample;
  sample.write({"first"});
  sample.write({other.bytes.substr(kRecordFileHeader) + "padding that is cut off"});
  EXPECT_EQ(read(std::string_view(sample.bytes).substr(0, sample.bytes.size() - 5)).scan.ending,
            Ending::torn);
}

TEST(RecordFile, rejects_newer_versions_and_other_kinds) {
  auto no_visit = [](std::uint64_t, std::string_view) { return Result<void>(); };
  const std::string newer = encode_header(RecordFile::make(kKind, 2, 1));
  auto scan = scan_records(newer, kExpected, no_visit);
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().code, Code::unimplemented);
  EXPECT_NE(scan.error().message.find("newer version"), std::string::npos);
  const std::string other = encode_header(RecordFile::make(record_kind("ELSE"), 1, 1));
  EXPECT_EQ(scan_records(other, kExpected, no_visit).error().code, Code::invalid);
}

TEST(RecordFile, reports_where_a_visitor_stopped) {
  const Sample sample = make_sample();
  auto scan = scan_records(sample.bytes, kExpected, [](std::uint64_t, std::string_view record) {
    return record == "second" ? Result<void>(fail(Code::invalid, "no")) : Result<void>();
  });
  ASSERT_FALSE(scan);
  EXPECT_EQ(scan.error().message, fmt::format("offset {}: no", sample.ends[0]));
}

}  // namespace
}  // namespace plim
