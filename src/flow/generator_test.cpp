#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow/job.hpp"

namespace plim::flow {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CheckedJob checked(std::string_view options) {
  auto job = parse_json(R"({"operations":[{"_op":"data_generator")" + std::string(options) +
                        R"(},{"_op":"noop"}]})");
  PLIM_ASSERT(job);
  return check_job(*job, 1);
}

std::vector<json::value> records(std::string_view options, std::uint64_t first = 0) {
  CheckedJob job = checked(options);
  EXPECT_THAT(job.problems.errors, IsEmpty());
  const OpConfig& reader = job.job->operations[0];
  auto fetcher = reader.entry->fetcher(reader.options);
  PLIM_ASSERT(fetcher);
  SliceContext context(system_clock());
  context.ex_id = "ex";
  context.created = WallTime(std::chrono::seconds(1'700'000'000));
  Batch batch;
  EXPECT_TRUE((*fetcher)->fetch(json::object{{"count", 50}, {"processed", first}}, context, batch));
  std::vector<json::value> out;
  for (Record record : batch.records) {
    auto value = parse_json(record);
    EXPECT_TRUE(value) << record;
    out.push_back(value.value_or(json::value()));
  }
  return out;
}

TEST(Generator, a_slice_run_again_has_the_same_records_and_another_slice_has_others) {
  EXPECT_EQ(records(""), records(""));
  EXPECT_NE(records("", 0), records("", 50));
}

TEST(Generator, makes_the_fields_of_teraslice) {
  for (const json::value& record : records("")) {
    std::vector<std::string> keys;
    for (const auto& member : record.as_object()) keys.emplace_back(member.key());
    EXPECT_THAT(keys, ElementsAre("ip", "userAgent", "url", "uuid", "created", "ipv6", "location",
                                  "bytes"));
    EXPECT_EQ(record.at("created"), "2023-11-14T22:13:20.000Z");
    EXPECT_GE(record.at("bytes").as_int64(), 7850);
    EXPECT_LE(record.at("bytes").as_int64(), 5642867);
  }
}

TEST(Generator, draws_dates_between_two) {
  std::set<std::string> dates;
  for (const json::value& record :
       records(R"(,"format":"isoBetween","start":"2015-08-01","end":"2015-08-02T00:00:00Z",
                 "date_key":"joined")")) {
    EXPECT_FALSE(record.as_object().contains("created"));
    std::string date(record.at("joined").as_string());
    EXPECT_THAT(date, HasSubstr("2015-08-0"));
    dates.insert(date);
  }
  EXPECT_GT(dates.size(), 10u);
  for (const json::value& record : records(R"(,"format":"utcBetween")"))
    EXPECT_LE(record.at("created").as_string(), "2023-11-14T22:13:20.000Z")
        << "from 1970 to when the slice was made";
}

TEST(Generator, sets_ids_of_the_letters_asked_for) {
  for (const json::value& record : records(R"(,"set_id":"hexadecimal","id_start_key":"ab")")) {
    std::string_view id = record.at("id").as_string();
    EXPECT_TRUE(id.starts_with("ab"));
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), id.npos) << id;
  }
}

TEST(Generator, says_what_is_wrong) {
  EXPECT_THAT(checked(R"(,"format":"isoBetween","start":"x","end":"y")").problems.errors,
              ElementsAre(HasSubstr("operations[0].start: must be a date"),
                          HasSubstr("operations[0].end: must be a date")));
  EXPECT_THAT(checked(R"(,"format":"isoBetween","end":"1960-01-01")").problems.errors,
              ElementsAre("operations[0].end: is before start"));
  EXPECT_THAT(checked(R"(,"delay":"soon")").problems.errors,
              ElementsAre(HasSubstr("operations[0].delay: must be a number of seconds")));
  EXPECT_THAT(checked(R"(,"delay":1,"stress_test":true)").problems.errors,
              ElementsAre("operations[0].delay: cannot be used with stress_test"));
}

}  // namespace
}  // namespace plim::flow
