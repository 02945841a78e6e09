#include <fmt/format.h>

#include "base/suggest.hpp"
#include "base/text.hpp"
#include "cli/code_texts.hpp"
#include "cli/commands.hpp"
#include "cli/printer.hpp"

namespace plim::cli {
namespace {

json::object as_json(const CodeText& error) {
  return {{"code", error.code},
          {"title", error.title},
          {"meaning", error.meaning},
          {"remedy", error.remedy}};
}

Failure unknown_code(const std::string& text) {
  const std::vector<CodeText> codes = code_texts();
  std::vector<std::string_view> known;
  for (const CodeText& error : codes) known.push_back(error.code);
  std::string_view near = nearest(text, known);
  return Failure{.code = Plm::wrong_arguments,
                 .exit = 4,
                 .what = fmt::format("unknown error code \"{}\"", text),
                 .next = near.empty() ? "plimsoll explain error lists all codes"
                                      : fmt::format("did you mean {}?", near),
                 .shape = Failure::Shape::one_line};
}

// Accepts "ann012" and "1203" too.
std::optional<CodeText> find_text(std::string_view text) {
  const ErrorEntry* error = find_error(text);
  for (const CodeText& one : code_texts())
    if (error ? one.code == code_name(error->code) : equals_ignoring_case(one.code, text))
      return one;
  return std::nullopt;
}

}  // namespace

Outcome<int> run_explain_error(Context& context) {
  PLIM_CLI_TRY(Printer printer, Printer::from(context));
  if (context.arguments.empty()) {
    Table table(
        {{"CODE"}, {"TITLE"}, {"MEANING", Table::Shown::wide}, {"REMEDY", Table::Shown::wide}});
    json::array all;
    for (const CodeText& error : code_texts()) {
      table.add({error.code, std::string(error.title), std::string(error.meaning),
                 std::string(error.remedy)});
      all.push_back(as_json(error));
    }
    json::value list = {{"items", std::move(all)}};
    PLIM_CLI_CHECK(printer.wants_table() ? printer.print_table(table) : printer.print(list));
    return 0;
  }
  const auto error = find_text(context.arguments[0]);
  if (!error) return tl::unexpected(unknown_code(context.arguments[0]));
  if (!printer.wants_table()) {
    PLIM_CLI_CHECK(printer.print(as_json(*error)));
    return 0;
  }
  PLIM_CLI_CHECK(
      context.world.out.write(fmt::format("{}: {}\n\n{}\n\nWhat to do: {}.\n", error->code,
                                          error->title, error->meaning, error->remedy)));
  return 0;
}

}  // namespace plim::cli
