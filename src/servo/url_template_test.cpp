#include "servo/url_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::servo {
namespace {

using ::testing::HasSubstr;

std::string expanded(std::string_view text, const Subject& subject) {
  auto url = UrlTemplate::parse(text, "acme.com");
  if (!url) return url.error().message;
  const auto target = url->expand(subject);
  return url->origin() + " " + target.path + (target.query.empty() ? "" : " " + target.query);
}

std::string mistake(std::string_view text, std::string_view account = "") {
  auto url = UrlTemplate::parse(text, account);
  return url ? "accepted" : url.error().message;
}

TEST(UrlTemplate, fills_in_placeholders) {
  const Subject subject{.app = "a1", .ns = "batch", .pod = "p-1", .uid = "u"};
  EXPECT_EQ(expanded("https://h:8443/m/{acct}/{app_id}/servo", subject),
            "https://h:8443 /m/acme.com/a1/servo");
  EXPECT_EQ(expanded("http://h/{namespace}/{pod}?uid={uid}#x", subject),
            "http://h /batch/p-1 uid=u");
  EXPECT_EQ(expanded("http://{acct}/x", subject), "http://acme.com /x");
  EXPECT_EQ(expanded("http://h", subject), "http://h /");
  EXPECT_EQ(expanded("http://h?a={app_id}", subject), "http://h / a=a1");
  EXPECT_EQ(expanded("http://h/{{x}}/{app_id}", subject), "http://h /{x}/a1");
}

TEST(UrlTemplate, encodes_values_as_one_segment) {
  auto path = [](std::string app) {
    return expanded("http://h/{app_id}/s", {.app = std::move(app)});
  };
  EXPECT_EQ(path("a/../b"), "http://h /a%2F..%2Fb/s");
  EXPECT_EQ(path("a?b#c d"), "http://h /a%3Fb%23c%20d/s");
  EXPECT_EQ(path("%2f"), "http://h /%252f/s");
  EXPECT_EQ(path("A-z_0.9~"), "http://h /A-z_0.9~/s");
  EXPECT_EQ(path("\u2713"), "http://h /%E2%9C%93/s");
  EXPECT_EQ(path("{uid}"), "http://h /%7Buid%7D/s");
}

TEST(UrlTemplate, rejects_mistakes_with_the_column) {
  EXPECT_THAT(mistake("http://h/{nope}"), HasSubstr("column 10: unknown placeholder \"nope\""));
  EXPECT_THAT(mistake("http://h/{app\\_id}"), HasSubstr("column 10"));
  EXPECT_THAT(mistake("http://h/{app_id"), HasSubstr("column 10: this '{' is never closed"));
  EXPECT_THAT(mistake("http://h/app_id}"), HasSubstr("column 16: this '}' has no '{'"));
  EXPECT_THAT(mistake("ftp://h/{app_id}"), HasSubstr("expected http:// or https://"));
  EXPECT_THAT(mistake("h/{app_id}"), HasSubstr("expected http:// or https://"));
  EXPECT_THAT(mistake("http://h/{acct}"), HasSubstr("OPTUNE_ACCOUNT is not set"));
  EXPECT_EQ(mistake("http://h/{acct}", "me"), "accepted");
  EXPECT_THAT(mistake("http://{app_id}/x"), HasSubstr("must not depend on the run"));
  EXPECT_THAT(mistake("http://h/a b"), HasSubstr("column 11"));
  EXPECT_NE(mistake("http://"), "accepted");
}

}  // namespace
}  // namespace plim::servo
