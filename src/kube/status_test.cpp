#include "kube/status.hpp"

#include <gtest/gtest.h>

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

TEST(Status, carries_reason_message_and_delay) {
  const Error error = error_from_answer(429, {}, R"({
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 429,
    "reason": "TooManyRequests", "message": "slow down",
    "details": {"retryAfterSeconds": 7}})");
  EXPECT_EQ(error.code, Code::too_many_requests);
  EXPECT_EQ(error.message, "slow down");
  EXPECT_EQ(error.retry_after, 7s);
}

TEST(Status, tells_conflict_from_already_exists_by_the_reason) {
  EXPECT_EQ(error_from_answer(409, {}, R"({"kind":"Status","reason":"AlreadyExists"})").code,
            Code::already_exists);
  EXPECT_EQ(error_from_answer(409, {}, R"({"kind":"Status","reason":"Conflict"})").code,
            Code::conflict);
  EXPECT_EQ(error_from_answer(410, {}, R"({"kind":"Status","reason":"Expired"})").code,
            Code::expired);
  EXPECT_EQ(error_from_answer(410, {}, R"({"kind":"Status","reason":"Gone"})").code, Code::gone);
}

TEST(Status, falls_back_to_the_http_status) {
  EXPECT_EQ(error_from_answer(404, {}, R"({"kind":"Status"})").code, Code::not_found);
  EXPECT_EQ(error_from_answer(403, {}, R"({"kind":"Status","reason":"Novel"})").code,
            Code::forbidden);
  const net::Headers headers{{"Retry-After", "12"}};
  EXPECT_EQ(error_from_answer(503, headers, "").retry_after, 12s);
}

TEST(Status, makes_one_short_line_of_a_proxys_page) {
  const std::string page =
      "<html>\r\n<head><title>502 Bad Gateway</title><style>b{}</style></head>\r\n"
      "<body><center><h1>Upstream is\n gone</h1></center><hr>nginx</body></html>" +
      std::string(5000, 'x');
  const Error error = error_from_answer(502, {}, page);
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_TRUE(
      error.message.starts_with("the server answered 502 Bad Gateway: Upstream is gone nginx xxxx"))
      << error.message;
  EXPECT_LT(error.message.size(), 250u);
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

TEST(Status, survives_bodies_that_only_look_like_a_status) {
  for (const char* body : {"\"Status\"", "{\"kind\":\"Status\",\"details\":[]}", "<", "<script>",
                           "{\"kind\":\"Status\",\"code\":1e300,\"message\":{}}", "\xff\xfe<"})
    EXPECT_EQ(error_from_answer(500, {}, body).code, Code::internal) << body;
}

TEST(Status, reads_only_seconds_from_retry_after) {
  EXPECT_EQ(retry_after({{"Retry-After", "3"}}), 3s);
  for (const char* bad :
       {"", "-1", "3.5", "3 s", "Wed, 21 Oct 2015 07:28:00 GMT", "99999999999999999999"})
    EXPECT_EQ(retry_after({{"Retry-After", bad}}), std::nullopt) << bad;
}

}  // namespace
}  // namespace plim::kube
