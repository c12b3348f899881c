/* A unit of FMI 2.0 that is ill, as the macro ILL says: 0 well, 1 sleeps, 2 leaves, 3 crashes, 4 gives NaN, 5 returns an error. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void (*logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    logger log;
} callbacks;

static logger said;
static double y = 1.0;

void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *place, const callbacks *own, int visible, int logging) {
    (void)name, (void)kind, (void)guid, (void)place, (void)visible, (void)logging;
    said = own->log;
    printf("a unit that talks\n");
    return &y;
}
void fmi2FreeInstance(void *c) { (void)c; }
int fmi2SetupExperiment(void *c, int a, double b, double s, int d, double e) { return (void)c, (void)a, (void)b, (void)s, (void)d, (void)e, 0; }
int fmi2EnterInitializationMode(void *c) { return (void)c, 0; }
int fmi2ExitInitializationMode(void *c) { return (void)c, 0; }
int fmi2Terminate(void *c) { return (void)c, 0; }
int fmi2GetReal(void *c, const unsigned *vr, size_t n, double *value) {
    (void)c, (void)vr;
    for (size_t i = 0; i < n; i++) value[i] = y;
    return 0;
}
int fmi2SetReal(void *c, const unsigned *vr, size_t n, const double *value) {
    (void)c, (void)vr;
    if (n > 0) y = value[0];
    return 0;
}
#if ILL != 6
int fmi2DoStep(void *c, double t, double h, int no) {
    (void)c, (void)no;
    if (t + h > 0.35) {
        if (ILL == 1) sleep(1000);
        if (ILL == 2) exit(7);
        if (ILL == 3) abort();
        if (ILL == 4) y = NAN;
        if (ILL == 5) {
            said(NULL, "ill", 3, "logStatusError", "the wheel came off at %g s", t);
            return 3;
        }
    }
    y += h;
    return 0;
}
#endif
