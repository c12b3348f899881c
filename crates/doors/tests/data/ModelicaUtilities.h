/* Of the functions that Modelica tools give to external C, the one that the library uses. */
#ifndef MODELICA_UTILITIES_H
#define MODELICA_UTILITIES_H
void ModelicaFormatError(const char *format, ...);
#endif
