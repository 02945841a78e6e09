// Commands that print the table of commands: help, options, completion, man.
#include <fmt/format.h>

#include "base/files.hpp"
#include "base/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "cli/manual.hpp"
#include "cli/run.hpp"

namespace plim::cli {

Outcome<int> run_help(Context& context) {
  std::string name = fmt::format("{}", fmt::join(context.arguments, " "));
  const Command* command = find_command(name);
  std::string text;
  if (name.empty()) {
    text = program_help(context.program);
  } else if (command != nullptr) {
    text = command_help(*command, context.program);
  } else if (is_group(name)) {
    text = group_help(name, context.program);
  } else {
    std::vector<std::string_view> known;
    for (const Command& one : commands())
      if (!one.hidden) known.push_back(one.name);
    std::string_view near = nearest(name, known);
    return usage_failure(Plm::unknown_command, fmt::format("unknown command \"{}\"", name),
                         near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
  PLIM_CLI_CHECK(context.world.out.write(text));
  return 0;
}

Outcome<int> run_options(Context& context) {
  PLIM_CLI_CHECK(context.world.out.write(options_help()));
  return 0;
}

Outcome<int> run_completion(Context& context) {
  const std::string& shell = context.arguments[0];
  std::string script = shell == "bash"  ? bash_completion()
                       : shell == "zsh" ? zsh_completion()
                                        : fish_completion();
  PLIM_CLI_CHECK(context.world.out.write(script));
  return 0;
}

Outcome<int> run_man(Context& context) {
  const std::string& folder = context.arguments[0];
  auto failed = [](const Error& error) {
    return tl::unexpected(file_failure(Plm::cannot_write, error));
  };
  if (auto made = make_directories(folder); !made) return failed(made.error());
  auto pages = context.values.boolean("markdown") ? reference_pages() : manual_pages();
  for (const Page& page : pages) {
    WriteOptions options{.mode = 0644, .sync = false};
    auto written = write_file(fmt::format("{}/{}", folder, page.file), page.text, options);
    if (!written) return failed(written.error());
  }
  if (!context.values.boolean("quiet"))
    (void)context.world.err.write(fmt::format("wrote {} pages to {}\n", pages.size(), folder));
  return 0;
}

}  // namespace plim::cli
