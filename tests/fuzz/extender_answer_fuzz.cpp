// Whatever an extender answers: an error, or nodes of those that it was asked about.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "sched/extender_messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> asked{"a", "b", "c"};
  for (const bool by_name : {false, true}) {
    const auto read = sched::read_filter_answer(text, "http://x", asked, by_name);
    if (!read) continue;
    PLIM_ASSERT(read->passed.size() + read->rejections.size() == asked.size());
    for (const std::string& node : read->passed)
      PLIM_ASSERT(std::ranges::find(asked, node) != asked.end());
  }
  if (const auto scores = sched::read_priorities(text))
    for (const auto& [node, score] : *scores)
      PLIM_ASSERT(score >= -1'000'000 && score <= 1'000'000);
  (void)sched::read_binding_answer(text).has_value();
  if (const auto victims = sched::read_preemption_answer(text)) {
    const std::string body = sched::extender_preemption("{}", *victims, sched::VictimForm::uid);
    const auto again = sched::read_preemption_answer(body);
    PLIM_ASSERT(again && again->size() == victims->size());
  }
  return 0;
}
