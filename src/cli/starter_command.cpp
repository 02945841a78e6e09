#include <cerrno>
#include <filesystem>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/local_cluster.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kStarterName = "plimsoll-starter";

// The static program is installed in the same directory as this program.
std::string starter_program() {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kStarterName)
      .string();
}

Failure starter_failure(const Error& error) {
  Failure out = local_failure(error);
  out.next =
      "install plimsoll-starter in the folder of plimsoll; in a clone, ./dev build builds both";
  return out;
}

// The version that `--version` would print; {} if the file is not our starter. Reads the file and
// does not run it, because it comes from the host.
std::vector<int> version_in(std::string_view program) {
  constexpr std::string_view kMark = "plimsoll-starter version ";
  const std::size_t at = program.find(kMark);
  if (at == program.npos) return {};
  program = program.substr(at + kMark.size());
  std::vector<int> out;
  for (std::string_view part : split(program.substr(0, program.find_first_of("\n\0"sv)), '.'))
    out.push_back(parse_int<int>(part).value_or(0));
  return out;
}

Outcome<void> install(Context& context, const std::string& path, const std::string& content) {
  const auto there = read_file(path);
  if (there && version_in(*there) > version_in(content)) {
    PLIM_CLI_CHECK(context.world.out.write(fmt::format("kept {}, which is newer\n", path)));
    return {};
  }
  if (!there || *there != content)
    if (auto written = write_file(path, content, {.mode = 0755}); !written)
      return tl::unexpected(local_failure(written.error()));
  PLIM_CLI_CHECK(context.world.out.write(fmt::format("installed {}\n", path)));
  return {};
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
  PLIM_CLI_CHECK(install(context, path, *content));
  // Also install it under its own name, for images that use it without the webhook.
  const std::string own = (std::filesystem::path(directory) / kStarterName).string();
  if (own != path) PLIM_CLI_CHECK(install(context, own, *content));
  return 0;
}

}  // namespace plim::cli
