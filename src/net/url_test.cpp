#include "net/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Url, parses_origins) {
  auto url = parse_url("https://us%40er:pa%3Ass@api.example:6443/prefix/").value();
  EXPECT_EQ(url.scheme, Url::Scheme::https);
  EXPECT_EQ(url.user, "us@er");
  EXPECT_EQ(url.password, "pa:ss");
  EXPECT_EQ(url.host, "api.example");
  EXPECT_EQ(url.port, 6443);
  EXPECT_EQ(url.path, "/prefix");
  EXPECT_EQ(url.host_header(), "api.example:6443");
}

TEST(Url, knows_default_ports_and_brackets) {
  EXPECT_EQ(parse_url("https://a").value().port, 443);
  EXPECT_EQ(parse_url("http://a/").value().port, 80);
  auto v6 = parse_url("http://[::1]:8080").value();
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.host_and_port(), "[::1]:8080");
  EXPECT_EQ(parse_url("https://a:443").value().host_header(), "a");
  EXPECT_EQ(parse_url("unix:///run/x.sock").value().path, "/run/x.sock");
}

TEST(Url, reports_what_it_expected) {
  auto error = [](std::string_view text) {
    auto url = parse_url(text);
    return url ? "accepted" : url.error().message;
  };
  EXPECT_THAT(error("ftp://a"), HasSubstr("http://"));
  EXPECT_THAT(error("https://"), HasSubstr("host"));
  EXPECT_THAT(error("https://good%2fevil"), HasSubstr("without escapes"));
  EXPECT_THAT(error("https://a:70000"), HasSubstr("port"));
  EXPECT_THAT(error("https://a:99999"), HasSubstr("port"));
  EXPECT_THAT(error("https://a:65536"), HasSubstr("port"));
  EXPECT_THAT(error("https://a:0"), HasSubstr("port"));
  EXPECT_THAT(error("https://a?x"), HasSubstr("query"));
  EXPECT_THAT(error("unix://relative"), HasSubstr("unix:///"));
  for (const char* bad : {"", "api.example:443", "https://a b", "https://u:secret@[::1",
                          "http://%zz", "https://user:@secret@h/x"})
    EXPECT_NE(error(bad), "accepted") << bad;
  EXPECT_THAT(error("https://user:secret@a:99999"), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace plim::net
