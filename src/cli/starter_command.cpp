#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/output.hpp"

namespace plim::cli {
namespace {

// The static program lies beside ours, wherever that was installed.
std::string starter_program() {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
          "plimsoll-starter")
      .string();
}

Failure starter_failure(const Error& error) {
  Failure out = local_failure(error);
  out.next =
      "plimsoll-starter is installed beside plimsoll; in a source tree ./dev build makes both";
  return out;
}

}  // namespace

Outcome<int> run_starter(Context& context) {
  std::string program = starter_program();
  std::vector<char*> words{program.data()};
  std::string end_of_flags = "--";
  words.push_back(end_of_flags.data());
  for (std::string& word : context.arguments) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return tl::unexpected(starter_failure(fail_errno(errno, fmt::format("cannot run {}", program))));
}

Outcome<int> run_pools_install_starter(Context& context) {
  const std::string& path = context.values.text("path");
  auto content = read_file(starter_program());
  if (!content) return tl::unexpected(starter_failure(content.error()));
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (!directory.empty())
    if (auto made = make_directories(directory); !made)
      return tl::unexpected(local_failure(made.error()));
  if (auto written = write_file(path, *content, {.mode = 0755}); !written)
    return tl::unexpected(local_failure(written.error()));
  PLIM_CLI_CHECK(context.world.out.write(fmt::format("installed {}\n", path)));
  return 0;
}

}  // namespace plim::cli
