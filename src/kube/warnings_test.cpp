#include "kube/warnings.hpp"

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

using Texts = std::vector<std::string>;

TEST(Warnings, reads_what_the_api_server_writes) {
  EXPECT_EQ(parse_warning_header(R"(299 - "v1 ComponentStatus is deprecated in v1.19+")"),
            Texts{"v1 ComponentStatus is deprecated in v1.19+"});
  EXPECT_EQ(parse_warning_header(R"(299 - "say \"no\", \\ twice")"), Texts{R"(say "no", \ twice)"});
}

TEST(Warnings, reads_several_with_dates_and_commas) {
  EXPECT_EQ(parse_warning_header(
                R"(299 - "a, b" "Wed, 21 Oct 2015 07:28:00 GMT", 299 proxy "c",199 x "d")"),
            (Texts{"a, b", "c", "d"}));
}

TEST(Warnings, leaves_out_what_it_cannot_read) {
  for (const char* bad :
       {"", "299", "299 -", "299 - text", "299 - \"open", "x - \"y\"", ",,,", "\\"})
    EXPECT_EQ(parse_warning_header(bad), Texts{}) << bad;
}

TEST(Warnings, keeps_control_characters_out_of_the_log) {
  EXPECT_EQ(parse_warning_header("299 - \"a\x1b[31mb\""), Texts{"a [31mb"});
}

TEST(Warnings, reports_each_once) {
  net::Headers headers;
  headers.add("warning", R"(299 - "old")");
  headers.add("Content-Type", "application/json");
  headers.add("Warning", R"(299 - "older")");
  Warnings warnings;
  EXPECT_EQ(warnings.unseen(headers), (Texts{"old", "older"}));
  EXPECT_EQ(warnings.unseen(headers), Texts{});
}

}  // namespace
}  // namespace plim::kube
