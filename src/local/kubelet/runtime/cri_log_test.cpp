#include "local/kubelet/runtime/cri_log.hpp"

#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::local::kubelet {
namespace {

const WallTime kLogged(std::chrono::seconds(1'700'000'000) + Nanos(42));

std::string content(const std::string& path) {
  return read_file(path).value_or("");
}

TEST(CriLog, writes_whole_lines) {
  plim::testing::TempDir dir;
  CriLog log(dir / "0.log");
  log.append(LogStream::out, "first\nsec", kLogged);
  log.append(LogStream::out, "ond\n", kLogged);
  EXPECT_EQ(content(dir / "0.log"),
            "2023-11-14T22:13:20.000000042Z stdout F first\n"
            "2023-11-14T22:13:20.000000042Z stdout F second\n");
}

TEST(CriLog, keeps_the_streams_apart) {
  plim::testing::TempDir dir;
  CriLog log(dir / "0.log");
  log.append(LogStream::out, "a", kLogged);
  log.append(LogStream::err, "b\n", kLogged);
  log.finish(kLogged);
  EXPECT_EQ(content(dir / "0.log"),
            "2023-11-14T22:13:20.000000042Z stderr F b\n"
            "2023-11-14T22:13:20.000000042Z stdout F a\n");
}

TEST(CriLog, cuts_long_lines_into_partial_ones) {
  plim::testing::TempDir dir;
  CriLog log(dir / "0.log");
  log.append(LogStream::out, std::string(CriLog::kMaxLine + 1, 'x') + "\n", kLogged);
  const std::string text = content(dir / "0.log");
  EXPECT_NE(text.find("stdout P xxx"), std::string::npos);
  EXPECT_TRUE(text.ends_with("stdout F x\n"));
}

TEST(CriLog, cuts_no_line_that_just_fits) {
  plim::testing::TempDir dir;
  CriLog log(dir / "0.log");
  log.append(LogStream::out, std::string(CriLog::kMaxLine, 'x') + "\n", kLogged);
  EXPECT_EQ(content(dir / "0.log").find(" P "), std::string::npos);
}

TEST(CriLog, rotates_and_keeps_five_files) {
  plim::testing::TempDir dir;
  CriLog log(dir / "0.log", 100);
  for (int i = 0; i < 20; ++i)
    log.append(LogStream::out, std::string(60, static_cast<char>('a' + i)) + "\n", kLogged);
  EXPECT_NE(content(dir / "0.log").find("tttt"), std::string::npos);
  EXPECT_NE(content(dir / "0.log.4").find("pppp"), std::string::npos);
  EXPECT_NE(::access((dir / "0.log.5").c_str(), F_OK), 0);
}

TEST(CriLog, goes_on_where_it_was) {
  plim::testing::TempDir dir;
  CriLog(dir / "0.log").append(LogStream::out, "a\n", kLogged);
  CriLog(dir / "0.log").append(LogStream::out, "b\n", kLogged);
  EXPECT_NE(content(dir / "0.log").find("F a\n"), std::string::npos);
  EXPECT_NE(content(dir / "0.log").find("F b\n"), std::string::npos);
}

}  // namespace
}  // namespace plim::local::kubelet
