#include <fmt/format.h>

#include "base/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace plim::cli {
namespace {

json::object as_json(const ErrorEntry& error) {
  return {{"code", code_name(error.code)},
          {"title", error.title},
          {"meaning", error.meaning},
          {"remedy", error.remedy}};
}

Failure unknown_code(const std::string& text) {
  std::vector<std::string> names;
  for (const ErrorEntry& error : error_table()) names.push_back(code_name(error.code));
  std::vector<std::string_view> known(names.begin(), names.end());
  std::string_view near = nearest(text, known);
  return Failure{.code = Plm::wrong_arguments,
                 .exit = 4,
                 .what = fmt::format("no error has the code \"{}\"", text),
                 .next = near.empty() ? "plimsoll explain error lists them"
                                      : fmt::format("did you mean {}?", near),
                 .shape = Failure::Shape::one_line};
}

}  // namespace

Outcome<int> run_explain_error(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  if (context.arguments.empty()) {
    Table table(
        {{"CODE"}, {"TITLE"}, {"MEANING", Table::Shown::wide}, {"REMEDY", Table::Shown::wide}});
    json::array all;
    for (const ErrorEntry& error : error_table()) {
      table.add({code_name(error.code), error.title, error.meaning, error.remedy});
      all.push_back(as_json(error));
    }
    json::value list = {{"items", std::move(all)}};
    PLIM_CLI_CHECK(printer.wants_table() ? printer.print_table(table) : printer.print(list));
    return 0;
  }
  const ErrorEntry* error = find_error(context.arguments[0]);
  if (error == nullptr) return tl::unexpected(unknown_code(context.arguments[0]));
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(as_json(*error)));
    return 0;
  }
  PLIM_CLI_CHECK(context.world.out.write(fmt::format("{}: {}\n\n{}\n\nWhat to do: {}.\n",
                                                     code_name(error->code), error->title,
                                                     error->meaning, error->remedy)));
  return 0;
}

}  // namespace plim::cli
