#include "base/result.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace plim {
namespace {

Result<int> half(int n) {
  if (n % 2) return fail(Code::invalid, "odd number");
  return n / 2;
}

Result<int> quarter(int n) {
  PLIM_TRY(int h, half(n));
  PLIM_TRY(h, half(h));
  return h;
}

Result<void> check(int n) {
  PLIM_CHECK(half(n));
  return {};
}

TEST(Result, try_declares_and_assigns) {
  EXPECT_EQ(*quarter(12), 3);
}

TEST(Result, try_passes_the_error_up) {
  EXPECT_EQ(quarter(6).error().message, "odd number");
  EXPECT_FALSE(check(1));
  EXPECT_TRUE(check(2));
}

TEST(Result, context_comes_first) {
  EXPECT_EQ(half(1).error().with_context("while halving").message, "while halving: odd number");
}

TEST(Result, reason_and_status_find_the_code_again) {
  for (int i = 1; i <= static_cast<int>(Code::cancelled); ++i) {
    auto code = static_cast<Code>(i);
    EXPECT_EQ(code_from_reason(reason(code), http_status(code)), code) << reason(code);
  }
  EXPECT_EQ(code_from_reason("SomethingNew", 404), Code::not_found);
  EXPECT_EQ(code_from_reason("", 502), Code::unavailable);
  EXPECT_EQ(code_from_reason("", 418), Code::bad_request);
}

TEST(Result, errno_gives_code_and_text) {
  Error e = fail_errno(ENOENT, "cannot open /x");
  EXPECT_EQ(e.code, Code::not_found);
  EXPECT_EQ(e.message, "cannot open /x: no such file or directory");
  EXPECT_EQ(e.errno_value, ENOENT);
}

}  // namespace
}  // namespace plim
