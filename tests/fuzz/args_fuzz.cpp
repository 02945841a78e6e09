// Any command line: parsed, completed, weighed against a settings file; never more than a message.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/args.hpp"
#include "cli/completion.hpp"
#include "cli/settings_file.hpp"

using namespace plim::cli;

// Words are separated by line ends; an empty line separates them from a settings file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  while (!input.empty()) {
    std::string_view word = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), word.size() + 1));
    if (word.empty()) break;
    words.emplace_back(word);
  }
  auto no_names = [](Live, const CursorPlace&) { return std::vector<Candidate>{{"name"}}; };
  for (const Candidate& one : complete(words, no_names).list)
    if (!words.empty() && !one.text.starts_with(words.back())) __builtin_trap();
  auto file = SettingsFile::parse(input, "config.yaml");
  auto line = parse_line(words);
  if (!line) {
    if (line.error().exit != 2 || format_failure(line.error(), "plimsoll").empty())
      __builtin_trap();
    return 0;
  }
  if (line->command == nullptr || !file) return 0;
  auto no_environment = [](std::string_view) { return std::optional<std::string>(); };
  auto values = settle(*line, no_environment, *file);
  if (!values) return 0;
  // Whatever passed the check can be read in its type.
  (void)values->boolean("quiet");
  (void)values->integer("v");
  return 0;
}
