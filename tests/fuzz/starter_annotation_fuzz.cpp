// Whatever the downward API's file holds, the starter reads it or refuses it, and plans what it
// read.
#include <string>

#include "starter/annotation.h"
#include "starter/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  text = text.substr(0, text.find('\0'));
  std::string quoted = "k=\"" + text;
  Message message{};
  Element element{};
  char* value = nullptr;
  find_annotation(quoted.data(), "k", &value, &message);
  char* json = value ? value : text.data();
  if (read_element(json, "c", &element, &message) && element.count > 0) {
    const char* environment[] = {"EXCLUSIVE_CPUS=0-7", "SHARED_CPUS=8", "A=b", nullptr};
    Plan plan{};
    plan_processes(&element, environment, [](unsigned, CpuSet*) { return false; }, &plan, &message);
    free_all(&plan.memory);
  }
  free_all(&element.memory);
  return 0;
}
